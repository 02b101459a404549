/* Owns the scripted upstream of the gateway benchmark: one thread, epoll, answers made beforehand.
 *
 *     cc -O2 -Wall -o upstream upstream.c && ./upstream FOLDER        prints its port
 *
 * FOLDER holds for each dialect NAME.whole (a complete HTTP answer) and NAME.stream: pieces of an answer, each behind
 * its length in decimal and a newline. bench/gateway.py writes them; nothing about HTTP answers is known here.
 * A request is streamed to when its body says "stream":true or its path says stream; all pieces at once, or one every
 * N milliseconds when the words bench-pace-N stand in the body.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 16384, PIECES = 4096, ROOM = 16384 };

struct text { char *at; size_t size; };

struct dialect {
    const char *name, *path; /* path: words by which the address is known */
    struct text whole, burst;
    struct text pieces[PIECES];
    int count;
};

static struct dialect dialects[] = {
    {.name = "anthropic", .path = "/messages"},
    {.name = "openai-responses", .path = "/responses"},
    {.name = "gemini", .path = "enerateContent"},
    {.name = "openai-chat", .path = ""}, /* everything else */
};
enum { DIALECTS = sizeof dialects / sizeof *dialects };

struct client {
    char *in;
    size_t held, room;
    struct text out;      /* what is still to be sent */
    struct dialect *says; /* a paced stream under way */
    int next;
    long pace, due;       /* microseconds */
};

static struct client *clients[MOST];
static int events, top, paced;

static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000L + t.tv_nsec / 1000;
}

static void die(const char *what) { perror(what); exit(1); }

static struct text file(const char *folder, const char *name, const char *kind) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, kind);
    FILE *f = fopen(path, "rb");
    if (!f) die(path);
    fseek(f, 0, SEEK_END);
    struct text t = {NULL, (size_t)ftell(f)};
    rewind(f);
    t.at = malloc(t.size + 1);
    if (!t.at || fread(t.at, 1, t.size, f) != t.size) die(path);
    t.at[t.size] = 0;
    fclose(f);
    return t;
}

static void load(struct dialect *d, const char *folder) {
    d->whole = file(folder, d->name, "whole");
    struct text script = file(folder, d->name, "stream");
    d->burst.at = malloc(script.size);
    for (char *at = script.at; at < script.at + script.size && d->count < PIECES;) {
        char *start;
        size_t size = strtoul(at, &start, 10);
        start++; /* the newline */
        char *kept = d->burst.at + d->burst.size;
        memcpy(kept, start, size);
        d->pieces[d->count++] = (struct text){kept, size};
        d->burst.size += size;
        at = start + size;
    }
    free(script.at);
}

static void watch(int fd, int how, unsigned what) {
    struct epoll_event e = {.events = what, .data.fd = fd};
    if (epoll_ctl(events, how, fd, &e)) die("epoll_ctl");
}

static void leave(int fd) {
    if (clients[fd]->says) paced--;
    free(clients[fd]->in);
    free(clients[fd]);
    clients[fd] = NULL;
    close(fd);
}

/* Send what is to be sent; 0 when the client has gone. */
static int push(int fd) {
    struct text *out = &clients[fd]->out;
    while (out->size) {
        ssize_t sent = send(fd, out->at, out->size, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno != EAGAIN) { leave(fd); return 0; }
            watch(fd, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
            return 1;
        }
        out->at += sent;
        out->size -= (size_t)sent;
    }
    return 1;
}

static int answer(int fd, char *head, size_t path_end, char *body, size_t size) {
    struct client *c = clients[fd];
    struct dialect *d = dialects;
    head[path_end] = 0;
    while (*d->path && !strstr(head, d->path)) d++;
    int streamed = strstr(head, "stream") != NULL;
    head[path_end] = ' ';
    streamed = streamed || memmem(body, size, "\"stream\":true", 13) || memmem(body, size, "\"stream\": true", 14);
    char *words = streamed ? memmem(body, size, "bench-pace-", 11) : NULL;
    if (words) {
        c->says = d;
        c->next = 0;
        c->pace = atol(words + 11) * 1000;
        c->due = now();
        paced++;
        return 1;
    }
    c->out = streamed ? d->burst : d->whole;
    return push(fd);
}

/* Answer every whole request that has come; 0 when the client has gone. */
static int handle(int fd) {
    struct client *c = clients[fd];
    while (c->held && !c->out.size && !c->says) {
        c->in[c->held] = 0;
        char *end = memmem(c->in, c->held, "\r\n\r\n", 4);
        if (!end) return 1;
        size_t head = (size_t)(end - c->in) + 4, whole = head;
        *end = 0;
        char *length = strcasestr(c->in, "\r\ncontent-length:");
        char *chunked = strcasestr(c->in, "\r\ntransfer-encoding:");
        *end = '\r';
        if (chunked) {
            char *last = memmem(c->in + head - 2, c->held - head + 2, "\r\n0\r\n\r\n", 7);
            if (!last) return 1;
            whole = (size_t)(last - c->in) + 7;
        } else if (length) {
            whole += strtoul(length + 17, NULL, 10);
        }
        if (c->held < whole) return 1;
        char *path = memchr(c->in, ' ', head), *close_ = path ? memchr(path + 1, ' ', head - (size_t)(path + 1 - c->in)) : NULL;
        if (!close_) { leave(fd); return 0; }
        char after = c->in[whole];
        c->in[whole] = 0;
        if (!answer(fd, c->in, (size_t)(close_ - c->in), c->in + head, whole - head)) return 0;
        c->in[whole] = after;
        memmove(c->in, c->in + whole, c->held - whole);
        c->held -= whole;
    }
    return 1;
}

static void receive(int fd) {
    struct client *c = clients[fd];
    if (c->held == c->room) c->in = realloc(c->in, (c->room *= 2) + 1);
    ssize_t got = recv(fd, c->in + c->held, c->room - c->held, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) { leave(fd); return; }
    c->held += (size_t)got;
    handle(fd);
}

static void welcome(int listening) {
    for (int fd, one = 1; (fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
        if (fd >= MOST) { close(fd); continue; }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        clients[fd] = calloc(1, sizeof(struct client));
        clients[fd]->room = ROOM;
        clients[fd]->in = malloc(ROOM + 1);
        if (fd > top) top = fd;
        watch(fd, EPOLL_CTL_ADD, EPOLLIN);
    }
}

/* One piece for every paced stream whose time has come. The last piece follows the one before it at once. */
static void pace(void) {
    long t = now();
    for (int fd = 0; fd <= top && paced; fd++) {
        struct client *c = clients[fd];
        if (!c || !c->says || c->out.size || t < c->due) continue;
        c->out = c->says->pieces[c->next++];
        c->due += c->next == c->says->count - 1 ? 0 : c->pace;
        if (!push(fd)) continue;
        if (c->next == c->says->count) {
            c->says = NULL;
            paced--;
            handle(fd);
        }
    }
}

int main(int count, char **words) {
    if (count != 2) { fprintf(stderr, "usage: upstream FOLDER\n"); return 2; }
    struct rlimit many = {MOST, MOST};
    setrlimit(RLIMIT_NOFILE, &many); /* where it is not allowed, fewer clients fit */
    for (int i = 0; i < DIALECTS; i++) load(&dialects[i], words[1]);
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in where = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof where;
    if (bind(listening, (struct sockaddr *)&where, size) || listen(listening, 4096)) die("listen");
    getsockname(listening, (struct sockaddr *)&where, &size);
    printf("%d\n", ntohs(where.sin_port));
    fflush(stdout);
    events = epoll_create1(0);
    watch(listening, EPOLL_CTL_ADD, EPOLLIN);
    struct epoll_event told[256];
    for (;;) {
        int n = epoll_wait(events, told, 256, paced ? 1 : -1);
        for (int i = 0; i < n; i++) {
            int fd = told[i].data.fd;
            if (fd == listening) { welcome(fd); continue; }
            if (!clients[fd]) continue;
            if (told[i].events & EPOLLOUT) {
                watch(fd, EPOLL_CTL_MOD, EPOLLIN);
                if (!push(fd) || !handle(fd)) continue;
            }
            if (told[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(fd);
        }
        if (paced) pace();
    }
}
