
// A run's story: charts that zoom, the cluster at any instant, and its last events with what each changed.
(function () {
  "use strict";
  function all(selector, from) { return Array.prototype.slice.call((from || document).querySelectorAll(selector)); }
  var element = vppdrill.element;
  function clock(s) {
    if (s > 0 && s < 0.0009995) { return Math.round(s * 1e6) + "us"; }
    if (s > 0 && s < 0.9995) { return Math.round(s * 1e4) / 10 + "ms"; }
    if (s < 60) { return String(Math.round(s * 1000) / 1000) + "s"; }
    if (s < 3600) { return Math.floor(s / 60) + "m" + String(Math.floor(s % 60)).padStart(2, "0") + "s"; }
    if (s < 86400) { return Math.floor(s / 3600) + "h" + String(Math.floor(s % 3600 / 60)).padStart(2, "0") + "m"; }
    return Math.floor(s / 86400) + "d" + String(Math.floor(s % 86400 / 3600)).padStart(2, "0") + "h";
  }

  // Zooming widens every chart of a run alike; they scroll together, and get finer ticks.
  var steps = [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 432000];
  function ticks(run, zoom) {
    var until = Number(run.dataset.until), step = steps.filter(function (s) { return s <= until / zoom / 4; }).pop() || until;
    all(".zoomed > .plot", run).forEach(function (plot) {
      all(":scope > .fine", plot).forEach(function (e) { e.remove(); });
      if (zoom === 1 || until / step > 3000) { return; }
      for (var i = 1; i * step < until; i++) {
        var text = document.createElementNS("http://www.w3.org/2000/svg", "text");
        text.setAttribute("class", "tick fine");
        text.setAttribute("x", 100 * i * step / until + "%");
        text.setAttribute("y", plot.getAttribute("height"));
        text.setAttribute("dy", "15");
        text.setAttribute("text-anchor", "middle");
        text.textContent = clock(i * step);
        plot.appendChild(text);
      }
      all(":scope > .tick:not(.fine)", plot).forEach(function (t) { t.style.display = zoom === 1 ? "" : "none"; });
    });
    if (zoom === 1) { all(".zoomed > .plot > .tick", run).forEach(function (t) { t.style.display = ""; }); }
  }
  function zoomTo(run, zoom, share) {
    zoom = Math.min(Math.max(zoom, 1), 512);
    var boxes = all(".zoomed", run), first = boxes[0];
    if (!first) { return; }
    var before = Number(run.dataset.zoom || 1), middle = share === undefined ? (first.scrollLeft + first.clientWidth / 2) / (first.clientWidth * before) : share;
    run.dataset.zoom = zoom;
    run.style.setProperty("--zoom", zoom);
    run.classList.toggle("magnified", zoom > 1);
    ticks(run, zoom);
    boxes.forEach(function (b) { b.scrollLeft = middle * b.clientWidth * zoom - b.clientWidth / 2; });
  }
  function zoomable(run) {
    all(".zooms button", run).forEach(function (b) {
      b.addEventListener("click", function () { zoomTo(run, Number(b.dataset.zoom) * Number(run.dataset.zoom || 1)); });
    });
    run.addEventListener("keydown", function (e) {
      var factor = { "+": 2, "=": 2, "-": 0.5, "0": 0 }[e.key];
      if (factor === undefined || e.ctrlKey || e.metaKey || !e.target.closest(".plot")) { return; }
      e.preventDefault();
      zoomTo(run, factor * Number(run.dataset.zoom || 1));
    });
    all(".zoomed", run).forEach(function (box) {
      box.addEventListener("scroll", function () {
        all(".zoomed", run).forEach(function (b) { if (b !== box && Math.abs(b.scrollLeft - box.scrollLeft) > 1) { b.scrollLeft = box.scrollLeft; } });
      });
      box.addEventListener("wheel", function (e) {
        if (!e.ctrlKey) { return; }
        e.preventDefault();
        var zoom = Number(run.dataset.zoom || 1), share = (box.scrollLeft + e.clientX - box.getBoundingClientRect().left) / (box.clientWidth * zoom);
        zoomTo(run, zoom * (e.deltaY < 0 ? 2 : 0.5), share);
      }, { passive: false });
    });
  }

  // unpack reads a story: gzip in base64.
  function unpack(text) {
    var bytes = Uint8Array.from(atob(text.trim()), function (c) { return c.charCodeAt(0); });
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }
  function natural(a, b) { return a.name.localeCompare(b.name, "en", { numeric: true }); }

  // tell builds a run's story where it stands.
  function tell(part, story) {
    var run = part.closest(".run"), id = run.id, events = story.events || [], at = story.until, current = -1, node = "";
    var bar = element("div", { className: "instant" }, part);
    element("label", { htmlFor: id + "-at", textContent: "At" }, bar);
    var range = element("input", { type: "range", id: id + "-at", min: 0, max: 1000, step: 1, value: 1000 }, bar);
    var shown = element("output", { htmlFor: id + "-at" }, bar);
    var earlier = element("button", { type: "button", textContent: "‹ change before" }, bar), later = element("button", { type: "button", textContent: "change after ›" }, bar);
    var said = element("p", { className: "note", role: "status" }, part);
    var svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "topology");
    svg.setAttribute("role", "group");
    part.appendChild(svg);
    var readout = element("p", { className: "readout" }, part);
    var summary = element("p", { className: "quiet", role: "status" }, part);
    var pods = element("details", { className: "block" }, part);
    var podsTitle = element("summary", {}, pods), podsList = element("pre", {}, pods);

    function nodesAt(t) {
      var seen = {}, last = 0;
      story.looks.forEach(function (l, i) {
        if (l.atSeconds > t + 1e-9 && i > 0) { return; }
        last = l.atSeconds;
        (l.nodes || []).forEach(function (n) { seen[n.name] = n; });
        (l.gone || []).forEach(function (n) { delete seen[n]; });
      });
      if (events.length && t >= events[0].atSeconds) {
        var index = events.length - 1;
        while (index > 0 && events[index].atSeconds > t + 1e-9) { index--; }
        Object.keys(seen).forEach(function (k) { seen[k] = exact(seen[k], stateOf(k, index, true)); });
        mesh(seen);
        last = events[index].atSeconds;
      }
      return { nodes: Object.keys(seen).map(function (k) { return seen[k]; }).sort(natural), when: last };
    }
    // exact is a node as its state's lines tell it, with what only looks tell of it.
    function exact(look, lines) {
      var n = Object.assign({}, look), head = /machine (\w+), agent (\w+), VPP (\w+), node ID (\d+), address (\S+)/.exec(lines[0] || ""), tables = {};
      if (!head) { return n; }
      var whole = look.held + look.free;
      n.up = (head[1] === "up" ? "m" : "") + (head[2] === "up" ? "a" : "") + (head[3] === "up" ? "v" : "");
      n.id = Number(head[4]);
      n.address = head[5] === "none" ? "" : head[5];
      n.pods = n.held = n.tunnels = 0;
      n.peers = {};
      n.blocks = [];
      lines.forEach(function (l) {
        var m;
        if (l.indexOf("  pod ") === 0) { n.pods++; } else if (l.indexOf("  lease ") === 0) { n.held++; } else if (l.indexOf("  block ") === 0) { n.blocks.push(l.slice(8)); }
        else if ((m = /^  interface \d+ vxlan_tunnel(\d+) /.exec(l))) { n.tunnels++; n.peers[m[1]] = true; }
        else if ((m = /^  route table (\d+) /.exec(l))) { tables[m[1]] = (tables[m[1]] || 0) + 1; }
      });
      n.tables = Object.keys(tables).map(function (t) { return t + ": " + tables[t] + " routes"; });
      n.free = Math.max(0, whole - n.held);
      return n;
    }
    // mesh names the tunnels that are missing: a tunnel is called after the node ID at its other end.
    function mesh(seen) {
      var nodes = Object.keys(seen).map(function (k) { return seen[k]; }), meshed = nodes.some(function (n) { return n.tunnels; });
      nodes.forEach(function (n) {
        n.missing = !meshed || !n.id || !n.peers ? [] : nodes.filter(function (m) { return m.id && m.id !== n.id && !n.peers[m.id]; }).map(function (m) { return m.name; }).slice(0, 12);
      });
    }
    function tellNode(now) {
      var held = (story.pods || []).filter(function (p) { return p[0] === node && p[3] <= at && (p[4] < 0 || p[4] > at); });
      var one = now.nodes.filter(function (n) { return n.name === node; })[0];
      pods.hidden = !node;
      podsTitle.textContent = node + " at " + clock(at);
      podsList.textContent = (one ? picture.words(one).replace(/, /g, "\n  ") : "not a member") + (held.length ? "\n" : "") + held.map(function (p) { return p[1] + " " + p[2]; }).sort().join("\n");
    }
    function show() {
      var now = nodesAt(at), up = now.nodes.filter(function (n) { return !picture.down(n); }).length, sum = { pods: 0, held: 0, resting: 0, free: 0, waiting: 0 };
      now.nodes.forEach(function (n) { Object.keys(sum).forEach(function (k) { sum[k] += n[k] || 0; }); });
      shown.textContent = clock(at);
      svg.setAttribute("aria-label", "The cluster at " + clock(at) + "; the arrow keys go from node to node, Enter chooses one");
      var failed = story.failure && at >= story.failure.atSeconds - 1e-9 ? story.failure : null;
      picture.draw(svg, now.nodes, node, failed, function (text) { readout.textContent = text; }, function (name) { node = name; pods.open = true; show(); tellState(); });
      readout.textContent = "Point at a node, or focus the picture and use the arrow keys.";
      summary.textContent = now.nodes.length + " nodes, " + up + " with everything up; " + sum.pods + " pods, " + sum.held + " addresses held, " + sum.resting + " cooling, " + sum.free + " free, " + sum.waiting + " pods waiting, as seen at " + clock(now.when) + ".";
      tellNode(now);
      all(".zoomed > .plot", run).forEach(function (plot) {
        var line = plot.querySelector(":scope > .now") || plot.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "line"));
        line.setAttribute("class", "now");
        ["x1", "x2"].forEach(function (k) { line.setAttribute(k, 100 * (story.until ? at / story.until : 0) + "%"); });
        line.setAttribute("y1", 0);
        line.setAttribute("y2", plot.getAttribute("height"));
      });
    }
    function go(t) {
      at = Math.min(Math.max(t, 0), story.until);
      range.value = story.until ? Math.round(1000 * at / story.until) : 0;
      show();
    }
    range.addEventListener("input", function () { at = story.until * range.value / 1000; show(); });
    function jump(direction) {
      var times = story.looks.map(function (l) { return l.atSeconds; }).filter(function (t) { return direction < 0 ? t < at - 1e-6 : t > at + 1e-6; });
      if (times.length) { go(direction < 0 ? times[times.length - 1] : times[0]); }
    }
    earlier.addEventListener("click", function () { jump(-1); });
    later.addEventListener("click", function () { jump(1); });
    run.addEventListener("click", function (e) {
      var plot = e.target.closest(".zoomed > .plot");
      if (plot) {
        var box = plot.getBoundingClientRect();
        go(story.until * (e.clientX - box.left) / box.width);
      }
    });

    // Events, found by words, with their node's state before and after.
    var before = null, after = null, most = 300, input, list, find, choose;
    if (events.length) {
      element("h4", { textContent: "Events" }, part);
      var finder = element("div", { className: "finder" }, part), left = element("div", {}, finder), right = element("div", { className: "state" }, finder);
      element("label", { htmlFor: id + "-find", textContent: "Find " }, left);
      input = element("input", { type: "search", id: id + "-find", autocomplete: "off", spellcheck: false, placeholder: "words, a node, an address" }, left);
      var count = element("p", { className: "quiet", role: "status" }, left);
      list = element("ol", { className: "found" }, left);
      before = element("div", {}, right);
      after = element("div", {}, right);
      var matches = [];
      find = function () {
        var wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
        matches = events.map(function (_, i) { return i; }).filter(function (i) { var line = events[i].line.toLowerCase(); return wanted.every(function (w) { return line.indexOf(w) >= 0; }); });
        count.textContent = matches.length + " of the last " + events.length + " events" + (matches.length > most ? ", the last " + most + " shown" : "");
        list.textContent = "";
        matches.slice(-most).forEach(function (i) {
          var e = events[i], item = element("li", {}, list);
          var button = element("button", { type: "button", textContent: e.event + " " + clock(e.atSeconds) + " " + e.line }, item);
          button.dataset.index = i;
          button.addEventListener("click", function () { choose(i); });
        });
        mark();
      };
      var mark = function () {
        all("button", list).forEach(function (b) { b.setAttribute("aria-current", String(Number(b.dataset.index) === current)); });
      };
      choose = function (i) {
        current = i;
        node = events[i].node || node;
        mark();
        go(events[i].atSeconds);
        tellState();
      };
      list.addEventListener("keydown", function (e) {
        var step = { ArrowDown: 1, ArrowUp: -1 }[e.key], items = all("button", list), to = items[items.indexOf(document.activeElement) + step];
        if (step && to) { e.preventDefault(); to.focus(); to.click(); }
      });
      input.addEventListener("input", find);
      find();
      list.scrollTop = list.scrollHeight;
    }
    // stateOf is a node's state before or after an event.
    var replay = {};
    function stateOf(name, index, withIt) {
      var end = index + (withIt ? 1 : 0), known = replay[name];
      if (!known || known.end > end) { known = replay[name] = { end: 0, lines: (story.base[name] || []).slice() }; }
      events.slice(known.end, end).forEach(function (e) {
        if (e.node !== name) { return; }
        (e.went || []).forEach(function (l) { var i = known.lines.indexOf(l); if (i >= 0) { known.lines.splice(i, 1); } });
        known.lines = known.lines.concat(e.came || []);
      });
      known.end = end;
      return known.lines.slice().sort(function (a, b) { return Number(a[0] === " ") - Number(b[0] === " ") || a.localeCompare(b, "en", { numeric: true }); });
    }
    function tellState() {
      if (!before || current < 0 || !node) { return; }
      [[before, "before", false, "del"], [after, "after", true, "ins"]].forEach(function (side) {
        var lines = stateOf(node, current, side[2]), other = stateOf(node, current, !side[2]);
        side[0].textContent = "";
        element("h5", { textContent: node + " " + side[1] + " event " + events[current].event }, side[0]);
        var pre = element("pre", { tabIndex: 0 }, side[0]);
        if (!lines.length) { pre.textContent = "(nothing)"; }
        lines.forEach(function (l) { element(other.indexOf(l) < 0 ? side[3] : "span", { textContent: l }, pre); });
        var changed = pre.querySelector("ins, del");
        if (changed) { pre.scrollTop = changed.offsetTop - pre.offsetTop - 40; }
      });
    }
    // A chain's line leads to its event: the slider stands at its instant, and its change is shown if the page has it.
    run.querySelectorAll(".to-event").forEach(function (link) {
      link.addEventListener("click", function (e) {
        e.preventDefault();
        var number = Number(link.dataset.event), i = events.findIndex(function (x) { return x.event === number; });
        all(".to-event", run).forEach(function (l) { l.removeAttribute("aria-current"); });
        link.setAttribute("aria-current", "true");
        if (i >= 0) {
          input.value = "";
          find();
          choose(i);
          var there = list.querySelector('[data-index="' + i + '"]');
          if (there) { list.scrollTop = there.offsetTop - list.offsetTop - 60; }
        } else {
          go(Number(link.dataset.at));
        }
        said.textContent = i >= 0 ? "" : "Event " + number + " is not among the last events that the page keeps: the picture shows its instant.";
        part.scrollIntoView({ block: "start" });
        range.focus({ preventScroll: true });
      });
    });
    if (events.length) { choose(events.length - 1); }
    go(story.failure ? story.failure.atSeconds : story.until);
    if (window.ResizeObserver) {
      var width = svg.clientWidth;
      new ResizeObserver(function () { if (svg.clientWidth && svg.clientWidth !== width) { width = svg.clientWidth; show(); } }).observe(svg);
    }
  }
  // storyOf unpacks the story of a run, once; null if it has none.
  function storyOf(run) {
    vppdrill.fill(run.querySelector("details"));
    var packed = run.querySelector(".story > template");
    return packed ? packed.story || (packed.story = unpack(packed.content.textContent)) : Promise.resolve(null);
  }
  // whenSeen waits until an element comes near the window: pictures that nobody looks at cost nothing.
  function whenSeen(e, then) {
    if (!window.IntersectionObserver) { then(); return; }
    var watch = new IntersectionObserver(function (list) {
      if (list.some(function (x) { return x.isIntersecting; })) { watch.disconnect(); then(); }
    }, { rootMargin: "600px 0px" });
    watch.observe(e);
  }
  all(".run > details").forEach(function (fold) {
    var told = false;
    function open() {
      if (!fold.open || told) { return; }
      told = true;
      var run = fold.closest(".run"), part, begun = false;
      vppdrill.fill(fold);
      zoomable(run);
      part = fold.querySelector(".story");
      if (!part) { return; }
      var begin = function () {
        if (begun) { return; }
        begun = true;
        storyOf(run).then(function (story) { tell(part, story); part.dataset.ready = "true"; }, function (e) {
          element("p", { className: "note", textContent: "This browser cannot unpack the story: " + e.message }, part);
        });
      };
      whenSeen(part, begin);
      // A line of the chain may be followed before its story has been told.
      all(".to-event", fold).forEach(function (link) {
        link.addEventListener("click", function (e) {
          if (part.dataset.ready) { return; }
          e.preventDefault();
          begin();
          storyOf(run).then(function () { setTimeout(function () { if (part.dataset.ready) { link.click(); } }); });
        });
      });
    }
    fold.addEventListener("toggle", open);
    open();
  });

  vppdrill.storyOf = storyOf;
  vppdrill.clock = clock;
})();
