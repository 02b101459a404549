// Owns the making of elements. Every text becomes a text node: no text from the wire is read as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, facts, children) {
  for (const [name, value] of Object.entries(facts ?? {})) {
    if (value === null || value === undefined) continue;
    if (name.startsWith("aria-")) element.setAttribute(name, String(value));
    else if (value === false) continue;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "selected") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter(one => one !== null && one !== undefined && one !== false));
  return element;
}

/** An HTML element with attributes, listeners (onclick, ...) and children. A child may be a text. */
export function h(tag, facts, ...children) {
  return fill(document.createElement(tag), facts, children);
}

/** The same for SVG. */
export function svg(tag, facts, ...children) {
  return fill(document.createElementNS(SVG, tag), facts, children);
}

/** A list of choices for a select. */
export function choices(values, chosen) {
  return values.map(one => {
    const [value, title] = Array.isArray(one) ? one : [one, one];
    return h("option", {value, selected: value === chosen}, title);
  });
}

/** Tabs over panels that are made when they are first shown. `panels`: [name, make] pairs. */
export function tabs(label, panels, chosen, onchange) {
  const shown = h("div", {class: "panel", role: "tabpanel", tabindex: "0"});
  const made = new Map();
  const buttons = panels.map(([name], index) => h("button", {
    role: "tab", type: "button", "aria-selected": "false", tabindex: "-1",
    onclick: () => choose(name),
    onkeydown: event => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (!step) return;
      event.stopPropagation();
      const next = buttons[(index + step + buttons.length) % buttons.length];
      next.click();
      next.focus();
    },
  }, name));
  function choose(name) {
    panels.forEach(([one, make], index) => {
      const on = one === name;
      buttons[index].setAttribute("aria-selected", on);
      buttons[index].tabIndex = on ? 0 : -1;
      if (!on) return;
      if (!made.has(one)) made.set(one, make());
      shown.setAttribute("aria-label", one);
      shown.replaceChildren(made.get(one));
    });
    onchange?.(name);
  }
  choose(panels.some(([name]) => name === chosen) ? chosen : panels[0][0]);
  return {bar: h("div", {class: "tabs", role: "tablist", "aria-label": label}, buttons), shown, choose};
}

/** A button that copies a text, and confirms it. */
export function copyButton(title, make) {
  const button = h("button", {type: "button", class: "quiet", onclick: async () => {
    let done = "copied";
    try { await navigator.clipboard.writeText(make()); } catch { done = "the browser refused"; }
    button.textContent = done;
    setTimeout(() => { button.textContent = title; }, 1200);
  }}, title);
  return button;
}
