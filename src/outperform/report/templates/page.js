"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);

  const make = (tag, text) => {
    const element = document.createElement(tag);
    element.textContent = text;
    return element;
  };

  const item = ([level, message, name]) => {
    const line = document.createElement("li");
    line.className = `op-${level}`;
    line.append(make("strong", level), ` ${message} `, make("code", name));
    return line;
  };

  // The path of the area under the outline between two percentages, as `_part` in Python.
  const under = ({ wide, tall, outline: [x, y] }, from, to) => {
    const left = Math.max(wide * from / 100, x[0]);
    const right = Math.min(wide * to / 100, x[x.length - 1]);
    if (left >= right) return "";
    const first = x.findIndex((value) => value > left);
    const last = x.findIndex((value) => value >= right);
    const height = (k, at) => y[k - 1] + (at - x[k - 1]) / (x[k] - x[k - 1]) * (y[k] - y[k - 1]);
    const points = [[left, tall], [left, height(first, left)]];
    for (let k = first; k < last; k += 1) points.push([x[k], y[k]]);
    points.push([right, height(last, right)], [right, tall]);
    return `M${points.map((point) => point.join(",")).join("L")}Z`;
  };

  // All texts come from tables computed in Python. Only positions on the picture are computed here.
  const bring = (live) => {
    const home = document.getElementById(live.name);
    const part = (name) => home.querySelector(`[data-part="${name}"]`);
    const slider = home.querySelector("input[type=range]");
    const [low, high] = live.domain;
    const place = (value) => 100 * Math.min(Math.max((value - low) / (high - low), 0), 1);

    const move = (at) => {
      const [left, right] = live.ends[at].map(place);
      const band = home.querySelector(".op-density rect.op-rope");
      band.setAttribute("x", `${left}%`);
      band.setAttribute("width", `${right - left}%`);
      const edges = [0, left, right, 100];
      home.querySelectorAll(".op-density .op-zone").forEach((zone, k) => {
        zone.setAttribute("d", under(live, edges[k], edges[k + 1]));
      });
      let start = 0;
      ["worse", "equivalent", "better"].forEach((name, k) => {
        const bar = home.querySelector(`[data-bar="${name}"]`);
        bar.setAttribute("x", start);
        bar.setAttribute("width", 100 * live.masses[at][k]);
        start += 100 * live.masses[at][k];
        part(name).textContent = live.percentages[at][k];
      });
    };

    const show = () => {
      const at = Number(slider.value);
      const [, tone, words] = live.decisions[live.decision[at]];
      const [before, after] = live.sentences[live.sentence[at]];
      const rope = live.rope[at];
      part("decision").className = `decision op-${tone}`;
      part("words").textContent = words;
      part("sentence").textContent = before + rope + after;
      home.querySelector(".op-density").setAttribute(
        "aria-label", live.picture + before + rope + after);
      part("rope").textContent = rope;
      part("findings").replaceChildren(...live.found[at].map((k) => item(live.findings[k])));
      part("no-findings").hidden = live.found[at].length > 0;
      part("reset").disabled = at === live.chosen;
      slider.setAttribute("aria-valuetext", `${rope}, ${words}`);
      move(at);
    };

    slider.addEventListener("input", show);
    part("reset").addEventListener("click", () => {
      slider.value = live.chosen;
      show();
      slider.focus();
    });
    slider.value = live.chosen;
    part("control").hidden = false;
    show();
  };

  const search = (control) => {
    const rows = [...document.getElementById(control.dataset.search).rows];
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const box = control.querySelector("input");
    box.addEventListener("input", () => {
      const words = box.value.toLowerCase().split(/\s+/);
      let found = 0;
      rows.forEach((row, k) => {
        row.hidden = !words.every((word) => texts[k].includes(word));
        found += row.hidden ? 0 : 1;
      });
      control.querySelector("output").textContent = `${found} of ${rows.length} items`;
    });
    control.hidden = false;
  };

  read("live").forEach(bring);
  document.querySelectorAll("[data-search]").forEach(search);
})();
