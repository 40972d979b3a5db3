
// The topology at an instant: nodes in a ring with their tunnels while they fit, a map of fills for thousands.
var picture = (function () {
  "use strict";
  var SVG = "http://www.w3.org/2000/svg";
  function make(name, attributes, parent, text) {
    var e = document.createElementNS(SVG, name);
    Object.keys(attributes || {}).forEach(function (k) { e.setAttribute(k, attributes[k]); });
    if (text !== undefined) { e.textContent = text; }
    if (parent) { parent.appendChild(e); }
    return e;
  }
  function down(n) {
    var words = [];
    if (n.up.indexOf("m") < 0) { words.push("machine down"); } else {
      if (n.up.indexOf("a") < 0) { words.push("agent down"); }
      if (n.up.indexOf("v") < 0) { words.push("VPP down"); }
    }
    return words.join(", ");
  }
  function size(n) { return n.held + (n.resting || 0) + n.free; }
  function words(n) {
    var out = n.name + ": " + (down(n) || "up") + ", " + (n.pods || 0) + " pods" + (size(n) ? ", " + n.held + " of " + size(n) + " addresses held" : ", no addresses");
    if (n.resting) { out += ", " + n.resting + " cooling"; }
    if (n.waiting) { out += ", " + n.waiting + " pods wait"; }
    if (n.tunnels) { out += ", " + n.tunnels + " tunnels"; }
    if (n.missing && n.missing.length) { out += ", none to " + n.missing.join(", "); }
    (n.tables || []).forEach(function (t) { out += ", VRF " + t; });
    (n.blocks || []).forEach(function (b) { out += ", " + b; });
    return out;
  }
  // narrow says that a picture is as wide as a phone.
  function narrow(svg) { return svg.clientWidth > 0 && svg.clientWidth < 520; }
  // ring draws up to 20 nodes: VRFs and pods inside, tunnels between. A phone has two columns in place of a ring.
  function ring(svg, nodes, failed) {
    var slim = narrow(svg), w = slim ? 340 : 760, bw = 128, bh = 74, at = {};
    var h = slim ? Math.ceil(nodes.length / 2) * (bh + 40) + 8 : nodes.length < 3 ? 200 : 456;
    svg.setAttribute("viewBox", "0 0 " + w + " " + h);
    nodes.forEach(function (n, i) {
      var a = 2 * Math.PI * i / nodes.length - Math.PI / 2, two = nodes.length < 3;
      at[n.name] = slim ? { x: i % 2 ? w - bw / 2 - 8 : bw / 2 + 8, y: Math.floor(i / 2) * (bh + 40) + bh / 2 + 24 } : { x: w / 2 + (two ? (i * 2 - nodes.length + 1) * 170 : Math.cos(a) * (w / 2 - bw / 2 - 14)), y: h / 2 + (two ? 0 : Math.sin(a) * (h / 2 - bh / 2 - 20)) };
    });
    nodes.forEach(function (n, i) {
      nodes.slice(i + 1).forEach(function (m) {
        var lack = (n.missing || []).indexOf(m.name) >= 0 || (m.missing || []).indexOf(n.name) >= 0;
        if (!lack && !(n.tunnels && m.tunnels)) { return; }
        make("line", { "class": lack ? "missing" : "tunnel", x1: at[n.name].x, y1: at[n.name].y, x2: at[m.name].x, y2: at[m.name].y }, svg);
      });
    });
    // The packet's path, where one shows the failure, from node to node.
    ((failed || {}).path || []).forEach(function (name, i, path) {
      var from = at[path[i - 1]], to = at[name];
      if (from && to) { make("line", { "class": "path", x1: from.x, y1: from.y, x2: to.x, y2: to.y }, svg); }
    });
    return nodes.map(function (n) {
      var here = failed && failed.node === n.name;
      var p = at[n.name], g = make("g", { "class": "node" + (down(n) ? " down" : "") + (here ? " failed" : ""), transform: "translate(" + (p.x - bw / 2) + " " + (p.y - bh / 2) + ")" }, svg);
      make("rect", { "class": "box", width: bw, height: bh, rx: 6 }, g);
      make("text", { x: bw / 2, y: 14 }, g, n.name.slice(0, 18));
      make("text", { x: bw / 2, y: 26, "class": "small" }, g, down(n) || n.address || "no address yet");
      (n.tables || []).slice(0, 2).forEach(function (t, i) {
        make("rect", { "class": "lane", x: 4 + i * 61, y: 31, width: 59, height: 14, rx: 2 }, g);
        make("text", { x: 4 + i * 61 + 29.5, y: 41, "class": "small" }, g, "VRF " + t.replace(" routes", "r"));
      });
      for (var i = 0; i < Math.min(n.pods || 0, 36); i++) { make("rect", { "class": "pod", x: 5 + i % 18 * 6.6, y: 50 + Math.floor(i / 18) * 7, width: 5, height: 5, rx: 1 }, g); }
      make("text", { x: bw / 2, y: 70, "class": "small" }, g, (n.pods || 0) + " pods" + (size(n) ? ", " + n.held + "/" + size(n) : ""));
      if (here) { make("text", { x: bw / 2, y: -5, "class": "law" }, g, "✗ " + failed.law); }
      return g;
    });
  }
  // map draws a square for each node, fuller for more of its addresses held.
  function map(svg, nodes, failed) {
    var columns = Math.ceil(Math.sqrt(nodes.length * 2.4)), side = 760 / columns, rows = Math.ceil(nodes.length / columns);
    svg.setAttribute("viewBox", "0 0 760 " + Math.ceil(rows * side));
    return nodes.map(function (n, i) {
      var share = size(n) ? n.held / size(n) : 0;
      var g = make("g", { "class": "node" + (down(n) ? " down" : "") + (n.waiting ? " full" : "") + (failed && failed.node === n.name ? " failed" : ""), transform: "translate(" + i % columns * side + " " + Math.floor(i / columns) * side + ")" }, svg);
      make("rect", { "class": "cell", x: 1, y: 1, width: side - 2, height: side - 2, "fill-opacity": n.waiting ? 1 : Math.max(0.06, share) }, g);
      return g;
    });
  }
  // draw fills an svg and lets people choose a node, by mouse or arrow keys. say takes words about the node in hand.
  function draw(svg, nodes, chosen, failed, say, choose) {
    svg.textContent = "";
    var groups = (nodes.length > (narrow(svg) ? 12 : 20) ? map : ring)(svg, nodes, failed);
    groups.forEach(function (g, i) {
      var n = nodes[i], text = words(n) + (failed && failed.node === n.name ? "; " + failed.law + " is broken here" : "");
      g.setAttribute("role", "button");
      g.setAttribute("aria-label", text);
      g.setAttribute("tabindex", n.name === chosen || !chosen && i === 0 ? "0" : "-1");
      if (n.name === chosen) { g.classList.add("chosen"); }
      make("title", {}, g, text);
      g.addEventListener("mouseenter", function () { say(text); });
      g.addEventListener("focus", function () { say(text); });
      g.addEventListener("click", function () { choose(n.name); });
      g.addEventListener("keydown", function (e) {
        var step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
        if (e.key === "Enter" || e.key === " ") { e.preventDefault(); choose(n.name); } else if (step && groups[i + step]) {
          e.preventDefault();
          g.setAttribute("tabindex", "-1");
          groups[i + step].setAttribute("tabindex", "0");
          groups[i + step].focus();
        }
      });
    });
  }
  return { draw: draw, words: words, down: down };
})();
