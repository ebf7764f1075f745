// SPDX-License-Identifier: Apache-2.0
// The page: asks the server every two seconds with the API key of this tab, and shows what it says as text, never as markup.
"use strict";

const PAUSE_MS = 2000;
const at = (id) => document.getElementById(id);
let timer = 0;

function make(tag, text = "", attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function bytes(count) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = count ? Math.min(units.length - 1, Math.floor(Math.log2(count) / 10)) : 0;
  const value = count / 1024 ** power;
  return `${value >= 100 || power === 0 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

function seconds(value) {
  if (value === undefined || value === null) return "";
  return value < 1 ? `${(value * 1000).toFixed(1)} ms` : `${value.toFixed(2)} s`;
}

/** A time of day, with the day unless it is today's. */
function moment(stamp) {
  const then = new Date(stamp * 1000);
  return then.toDateString() === new Date().toDateString() ? then.toLocaleTimeString() : then.toLocaleString();
}

const short = (hash) => hash.slice(0, 12);

async function ask(path, method = "GET") {
  const answer = await fetch(path, { method, headers: { authorization: `Bearer ${sessionStorage.getItem("key")}` } });
  const told = answer.status === 204 ? null : await answer.json();
  if (!answer.ok) throw Object.assign(new Error(told.error.message), { status: answer.status });
  return told;
}

function fill(id, rows, columns, empty) {
  const body = at(id).querySelector("tbody");
  if (!rows.length) {
    const row = make("tr");
    row.append(make("td", empty, { class: "empty", colspan: columns }));
    rows = [row];
  }
  body.replaceChildren(...rows);
}

function row(cells) {
  const made = make("tr");
  for (const cell of cells) made.append(cell instanceof Node ? cell : make("td", String(cell)));
  return made;
}

const number = (text) => make("td", text, { class: "number" });
const mono = (text, title) => make("td", text, { class: "mono", title });

function tiles(status) {
  const { used, quota } = status;
  const shown = {
    "You are": status.tenant,
    "Workers": `${status.workers} × ${status.threads} thread${status.threads > 1 ? "s" : ""}`,
    "Queue": `${status.queue.jobs} of ${status.queue.limit}`,
    "Key memory, all tenants": `${bytes(status.key_memory.held)} of ${bytes(status.key_memory.limit)}`,
    "You store": `${bytes(used.bytes)} of ${bytes(quota.bytes)}`,
    "Your unfinished jobs": `${used.jobs} of ${quota.jobs}`,
    "One job may take": `${bytes(quota.memory)}, ${quota.seconds} s`,
  };
  at("tiles").replaceChildren(...Object.entries(shown).map(([name, value]) => {
    const tile = make("div");
    tile.append(make("dt", name), make("dd", value));
    return tile;
  }));
}

function stateCell(job) {
  const cell = make("td", job.state, { class: job.state });
  if (job.state === "failed") cell.textContent += `: ${job.error.message}`;
  if (job.state === "running" && job.progress.total) {
    const { done, total } = job.progress;
    cell.append(" ", make("progress", "", { value: done, max: total, "aria-label": `${done} of ${total} operations` }));
  }
  return cell;
}

function jobRow(job, names) {
  const report = job.report ?? {};
  const action = make("td");
  const ended = ["done", "failed", "cancelled"].includes(job.state);
  const button = make("button", ended ? "Delete" : "Cancel", { class: "quiet", "aria-label": `${ended ? "Delete" : "Cancel"} ${job.id}` });
  const path = `/v1/jobs/${encodeURIComponent(job.id)}`;
  button.addEventListener("click", () => (ended ? ask(path, "DELETE") : ask(`${path}/cancel`, "POST")).then(refresh, tell));
  action.append(button);
  const loaded = report.warm_keys === undefined ? "" : report.warm_keys ? "held" : seconds(report.load_seconds);
  return row([
    mono(job.id.length > 16 ? `${job.id.slice(0, 16)}…` : job.id, job.id), names.get(job.program) ?? short(job.program), stateCell(job),
    moment(job.created), number(seconds(report.wait_seconds)), number(loaded),
    number(seconds(report.run_seconds)), number(report.worker_memory ? bytes(report.worker_memory) : ""), action,
  ]);
}

function programCard(blob) {
  const { facts } = blob;
  const card = make("details", "", { id: `program-${blob.hash}` });
  const summary = make("summary");
  const title = facts.variant && facts.variant !== "default" ? `${facts.name} (${facts.variant})` : facts.name;
  summary.append(make("strong", title), make("span", `${facts.scheme.toUpperCase()}, n = ${facts.n}, ${facts.security}, ${short(blob.hash)}`));
  const table = make("table");
  table.append(row([make("th", "argument"), make("th", "shape"), make("th", "values"), make("th", "comes")]));
  for (const a of facts.arguments) {
    table.append(row([a.name, a.shape.length ? a.shape.join(" × ") : "one number", `${a.low} to ${a.high}`, a.encrypted ? "encrypted" : "in the clear"]));
  }
  const operations = Object.entries(facts.operations).map(([name, count]) => `${count} ${name}`).join(", ");
  card.append(summary, make("pre", facts.box), table, make("p", `Operations: ${operations}.`),
    make("p", `A run takes about ${bytes(facts.cost.memory)} beside keys of ${bytes(facts.cost.keys)}. Guarantee: ${facts.guarantee}.`));
  return card;
}

function programs(blobs) {
  const open = new Set([...document.querySelectorAll("#programs details[open]")].map((card) => card.id));
  const cards = blobs.map(programCard);
  for (const card of cards) card.open = open.has(card.id);
  if (!cards.length) cards.push(make("p", "None yet: a client uploads them.", { class: "note" }));
  at("programs").replaceChildren(...cards);
}

function keyRow(blob, names, inMemory) {
  const { facts } = blob;
  return row([mono(short(blob.hash), blob.hash), mono(short(facts.key), facts.key), names.get(facts.identity) ?? "", number(facts.rotations),
    number(bytes(blob.size)), inMemory.has(blob.hash) ? "yes" : "no"]);
}

function tell(error) {
  at("problem").textContent = error.message;
  at("problem").hidden = false;
  if (error.status === 401) leave();
}

async function refresh() {
  clearTimeout(timer);
  try {
    const [status, held, jobs] = await Promise.all([ask("/v1/status"), ask("/v1/blobs?kind=program&limit=200"), ask("/v1/jobs?limit=50")]);
    const byHash = new Map(held.blobs.map((blob) => [blob.hash, blob.facts.name]));
    const byIdentity = new Map(held.blobs.map((blob) => [blob.facts.identity, blob.facts.name]));
    at("version").textContent = status.version;
    tiles(status);
    programs(held.blobs);
    fill("jobs", jobs.jobs.map((job) => jobRow(job, byHash)), 9, "None yet.");
    fill("keys", status.keys.map((blob) => keyRow(blob, byIdentity, new Set(status.keys_in_memory))), 6, "None yet.");
    at("problem").hidden = true;
    at("login").hidden = true;
    at("board").hidden = false;
    timer = setTimeout(refresh, PAUSE_MS);
  } catch (error) {
    tell(error);
    if (error.status !== 401) timer = setTimeout(refresh, 2 * PAUSE_MS);
  }
}

function leave() {
  clearTimeout(timer);
  sessionStorage.removeItem("key");
  at("board").hidden = true;
  at("login").hidden = false;
  at("key").focus();
}

async function describe() {
  const api = await (await fetch("/openapi.json")).json();
  const rows = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, told]) => row([mono(method.toUpperCase()), mono(path), told.summary ?? ""])));
  at("api").querySelector("tbody").replaceChildren(...rows);
}

at("login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("key", at("key").value.trim());
  at("key").value = "";
  refresh();
});
at("leave").addEventListener("click", leave);
describe();
if (sessionStorage.getItem("key")) refresh();
else leave();
