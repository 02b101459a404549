// Owns the plots: bars and lines over time, as SVG.

import {h, svg} from "./dom.js";

const WIDTH = 640, HEIGHT = 150, LEFT = 52, BOTTOM = 18, TOP = 8;

/** `buckets`: texts for the time axis; `series`: [{name, kind: bar|line, values, class, exact}]; `exact`: the values are not counts; `format` writes a value. */
export function plot(title, buckets, series, format = String) {
  const bars = series.filter(one => one.kind === "bar"), lines = series.filter(one => one.kind === "line");
  const sums = buckets.map((_, index) => bars.reduce((sum, one) => sum + (one.values[index] ?? 0), 0));
  const top = Math.max(1e-9, ...sums, ...lines.flatMap(one => one.values.map(value => value ?? 0)));
  const most = bars.some(one => !one.exact) ? 2 * Math.ceil(top / 2) : top;  // half of a count is a count
  const step = (WIDTH - LEFT) / buckets.length, y = value => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most);
  const picture = svg("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title});
  for (const part of [0, 0.5, 1]) {
    picture.append(svg("line", {x1: LEFT, x2: WIDTH, y1: y(most * part), y2: y(most * part), class: "grid"}),
      svg("text", {x: LEFT - 6, y: y(most * part) + 4, class: "axis end"}, format(most * part)));
  }
  buckets.forEach((name, index) => {
    let base = 0;
    for (const one of bars) {
      const value = one.values[index] ?? 0;
      if (!value) continue;
      picture.append(svg("rect", {x: LEFT + index * step + 1, width: Math.max(1, step - 2), y: y(base + value), height: y(base) - y(base + value), class: one.class},
        svg("title", null, `${name}: ${one.name} ${format(value)}`)));
      base += value;
    }
    if (index % Math.ceil(buckets.length / 6) === 0) picture.append(svg("text", {x: LEFT + index * step, y: HEIGHT - 4, class: "axis"}, name));
  });
  for (const one of lines) {
    const points = one.values.map((value, index) => value === null ? null : [LEFT + (index + 0.5) * step, y(value)]).filter(Boolean);
    picture.append(svg("polyline", {points: points.map(point => point.join(",")).join(" "), class: one.class}),
      points.map(([cx, cy]) => svg("circle", {cx, cy, r: 2.5, class: one.class})));
  }
  const legend = h("span", {class: "legend"}, series.map(one => h("span", null, h("i", {class: `swatch ${one.class}`}), one.name)));
  return h("figure", {class: "plot"}, h("figcaption", null, h("b", null, title), legend), picture);
}
