// SPDX-License-Identifier: Apache-2.0
const data = JSON.parse(document.querySelector('#data').textContent), points = data.points;
const at = id => document.getElementById(id), svgNs = 'http://www.w3.org/2000/svg';
const make = (tag, text, parent, name) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (name) made.className = name;
  if (parent) parent.append(made);
  return made;
};
const shown = value => typeof value !== 'number' ? value ?? '–'
  : value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 10 ? 3 : 1 });

// Plots: points by latency and one more figure; the same point is marked in all.
const WIDTH = 480, HEIGHT = 320, LEFT = 76, BOTTOM = 40, dots = new Map(points.map(p => [p.name, []]));
function svg(tag, values, parent, text) {
  const made = document.createElementNS(svgNs, tag);
  for (const [key, value] of Object.entries(values)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}
// 1, 2 or 5 times a power of ten: the least that is not below a number.
function round(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].find(one => one * power >= value * (1 - 1e-9)) * power;
}
// Round numbers around two others: multiples of one step, or over more than a decade 1, 2 and 5 times powers of ten.
function ticks(low, high, log) {
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 1, high + 1];
  if (log && high / low >= 10) {
    const least = Math.floor(Math.log10(low)), most = Math.ceil(Math.log10(high)), apart = Math.ceil((most - least) / 6);
    const factors = high / low <= 100 ? [1, 2, 5] : [1], all = [];
    for (let power = least; power <= most; power += apart) all.push(...factors.map(one => Number(`${one}e${power}`)));
    return all.filter((one, k) => (all[k + 1] ?? Infinity) > low && (all[k - 1] ?? -Infinity) < high);
  }
  const step = round((high - low) / 5), first = Math.floor(low / step + 1e-9), count = Math.ceil(high / step - 1e-9) - first;
  const all = Array.from({ length: count + 1 }, (_, k) => +((first + k) * step).toPrecision(12));
  return log ? all.filter(one => one > 0) : all;
}
function scale(values, from, to, log) {
  const f = log ? Math.log : x => x, least = Math.min(...values), most = Math.max(...values), all = ticks(least, most, log);
  const low = f(Math.min(all[0], least)), high = f(Math.max(all.at(-1), most));
  return { place: v => from + (f(v) - low) / (high - low) * (to - from), ticks: all };
}
function plot(key, label, log) {
  const area = svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': `latency and ${label}` }, at('plots'));
  const x = scale(points.map(p => p.latency_ms), LEFT, WIDTH - 15, true);
  const y = scale(points.map(p => p[key]), HEIGHT - BOTTOM, 15, log);
  for (const tick of x.ticks) {
    svg('line', { x1: x.place(tick), x2: x.place(tick), y1: 15, y2: HEIGHT - BOTTOM }, area);
    svg('text', { x: x.place(tick), y: HEIGHT - BOTTOM + 16, 'text-anchor': 'middle', class: 'tick' }, area, tick.toLocaleString('en', { maximumFractionDigits: 12 }));
  }
  for (const tick of y.ticks) {
    svg('line', { x1: LEFT, x2: WIDTH - 15, y1: y.place(tick), y2: y.place(tick) }, area);
    svg('text', { x: LEFT - 5, y: y.place(tick) + 4, 'text-anchor': 'end', class: 'tick' }, area, tick.toLocaleString('en', { maximumFractionDigits: 12 }));
  }
  svg('text', { x: (LEFT + WIDTH) / 2, y: HEIGHT - 5, 'text-anchor': 'middle' }, area, 'latency in ms');
  svg('text', { x: 14, y: HEIGHT / 2, 'text-anchor': 'middle', transform: `rotate(-90 14 ${HEIGHT / 2})` }, area, label);
  for (const point of [...points].reverse()) {
    const dot = svg('circle', { cx: x.place(point.latency_ms), cy: y.place(point[key]), r: 5, class: point.status }, area);
    svg('title', {}, dot, `${point.name}: ${shown(point.latency_ms)} ms, ${label} ${shown(point[key])}`);
    dot.onclick = () => select(point);
    dots.get(point.name).push(dot);
  }
}

// The table: sorted by a click on a heading.
const COLUMNS = [['name', 'point'], ['latency_ms', 'ms'], ['share_percent', '% of board'], ['lut', 'LUT'], ['ff', 'FF'],
  ['dsp', 'DSP'], ['bram36', 'RAMB36'], ['error_bits', 'error'], ['security_bits', 'security'],
  ['traffic_bytes', 'bytes'], ['host_operations', 'host'], ['host_ms', 'of it ms'],
  ['energy_uj', 'uJ, 180 nm'], ['verified_cycles', 'verified']];
const rows = new Map(), body = at('rows');
function table() {
  for (const [key, label] of COLUMNS) make('button', label, make('th', undefined, at('heads'))).onclick = () => order(key);
  for (const point of points) {
    const row = make('tr', undefined, body);
    for (const [key, label] of COLUMNS) make('td', shown(point[key]), row).dataset.label = label;
    row.onclick = () => select(point);
    rows.set(point.name, row);
  }
}
let ordered = 'latency_ms', up = true;
function order(key) {
  up = key !== ordered || !up;
  ordered = key;
  points.sort((a, b) => (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0) * (up ? 1 : -1));
  body.append(...points.map(point => rows.get(point.name)));
}

// Filters.
function filter() {
  const text = at('find').value, slowest = parseFloat(at('slowest').value), share = parseFloat(at('share').value);
  let count = 0;
  for (const point of points) {
    const fits = point.name.includes(text) && !(point.latency_ms > slowest) && !(point.share_percent > share)
      && (!at('best').checked || point.status === 'front');
    rows.get(point.name).hidden = !fits;
    dots.get(point.name).forEach(dot => dot.classList.toggle('out', !fits));
    count += fits;
  }
  at('count').textContent = `${count} of ${points.length} evaluated points`;
}

// The box of the selected point.
function bar(title, parts, whole, parent) {
  make('div', `${title}: ${parts.map(([name, value]) => `${name} ${shown(value)}`).join(', ')}`, parent);
  const strip = make('div', undefined, parent, 'bar');
  for (const [name, value] of parts) {
    const part = make('i', undefined, strip);
    part.style.width = `${100 * value / whole}%`;
    part.title = `${name}: ${shown(value)}`;
  }
}
function select(point) {
  document.querySelectorAll('.selected').forEach(one => one.classList.remove('selected'));
  dots.get(point.name).forEach(dot => dot.classList.add('selected'));
  rows.get(point.name).classList.add('selected');
  const box = at('box');
  box.replaceChildren();
  make('h2', point.name, box);
  const list = make('dl', undefined, box);
  for (const [name, value] of point.facts) { make('dt', name, list); make('dd', shown(value), list); }
  make('h2', 'Cycles', box);
  bar(`${shown(point.cycles)} in all`, point.timeline, point.cycles, box);
  make('h2', `Resources of ${data.board}`, box);
  for (const [name, parts, available] of point.taken) bar(`${name} of ${shown(available)}`, parts, available, box);
  for (const [name, text] of point.files) {
    const more = make('details', undefined, box);
    make('summary', name, more);
    make('pre', text, more);
  }
}

plot('share_percent', '% of the board', false);
plot('error_bits', data.error_label, false);
plot('energy_uj', 'uJ a run in 180 nm cells, not of the board', true);
table();
for (const name of ['find', 'slowest', 'share', 'best']) at(name).oninput = filter;
filter();
select(points[0]);
