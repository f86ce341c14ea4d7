// The form of one tool: puts the arguments together, calls, shows what came of it. All text is set as text.

const form = document.getElementById("call");
const result = document.getElementById("result");
const tool = form.dataset.tool;
const address = `/api/tools/${encodeURIComponent(tool)}`;

class Wrong extends Error {
  constructor(control, message) {
    super(message);
    this.control = control;
  }
}

// The value of one control; undefined where nothing was entered.
function read(control) {
  // What is no number a browser gives as nothing.
  if (control.validity.badInput) throw new Wrong(control, "This is no number.");
  const text = control.value;
  if (text.trim() === "" && !(control.dataset.kind === "text" && control.required)) return undefined;
  switch (control.dataset.kind) {
    case "text": return text;
    case "number": return json(control, text);
    case "choice": return JSON.parse(text);
    case "lines": return text.split("\n").filter((line) => line !== "");
    case "values": return text.split("\n").filter((line) => line.trim() !== "").map((line) => json(control, line));
    default: return json(control, text);
  }
}

function json(control, text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Wrong(control, "This is no JSON value.");
  }
}

function collect() {
  const values = {};
  for (const control of form.querySelectorAll("[data-path]")) {
    const value = read(control);
    if (value === undefined) continue;
    const path = JSON.parse(control.dataset.path);
    const last = path.pop();
    let place = values;
    for (const key of path) place = place[key] ??= {};
    place[last] = value;
  }
  return values;
}

function mark(control, message) {
  control.setAttribute("aria-invalid", "true");
  const said = document.createElement("p");
  said.className = "error";
  said.textContent = message;
  control.after(said);
}

function clear() {
  form.querySelectorAll(".error").forEach((said) => said.remove());
  form.querySelectorAll("[aria-invalid]").forEach((control) => control.removeAttribute("aria-invalid"));
}

function show(title, kind, text, more) {
  const heading = document.createElement("h2");
  heading.textContent = title;
  heading.className = kind;
  const shown = document.createElement("pre");
  shown.tabIndex = 0;
  shown.textContent = pretty(text);
  result.replaceChildren(heading, shown);
  if (more !== undefined) {
    const extra = document.createElement("pre");
    extra.textContent = JSON.stringify(more, null, 2);
    result.append(extra);
  }
  result.hidden = false;
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function call(dry, values) {
  const begun = performance.now();
  const response = await fetch(dry ? `${address}?dry_run=true` : address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(values),
  });
  const answer = await response.json();
  const took = `${Math.round(performance.now() - begun)} ms`;
  if (response.status === 202) return pending(answer);
  const output = answer.output ?? answer.detail ?? response.statusText;
  show(`${response.ok ? (dry ? "Would run" : "Done") : "Failed"} · ${took}`, response.ok ? "calm" : "bad", output,
    dry ? answer.metadata : undefined);
  for (const wrong of answer.error?.arguments ?? []) {
    const controls = [...form.querySelectorAll("[data-path]")];
    const control = controls.find((one) => wrong.path.split("[")[0] === JSON.parse(one.dataset.path).join("."));
    const said = wrong.received == null ? wrong.expected : `got ${wrong.received}, expected ${wrong.expected}`;
    if (control) mark(control, `${said[0].toUpperCase()}${said.slice(1)}.`);
  }
  form.querySelector("[aria-invalid]")?.focus();
}

// A call that needs consent: the person who has made it is asked here.
function pending(answer) {
  const { token } = answer.metadata;
  show("Needs your consent", "warn", answer.output, answer.metadata.preview);
  const buttons = document.createElement("div");
  buttons.className = "buttons";
  for (const [name, label, style] of [["approve", "Run it", "primary"], ["refuse", "Refuse", ""]]) {
    const button = document.createElement("button");
    button.textContent = label;
    button.className = style;
    button.addEventListener("click", () => decide(name, token));
    buttons.append(button);
  }
  result.append(buttons);
  buttons.firstChild.focus();
}

async function decide(name, token) {
  const response = await fetch(`/api/pending/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  const answer = await response.json();
  const done = name === "refuse" ? "Refused" : response.ok ? "Done" : "Failed";
  show(done, response.ok ? "calm" : "bad", answer.output ?? answer.detail ?? response.statusText);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  clear();
  const dry = event.submitter?.value === "dry";
  const buttons = form.querySelectorAll("button");
  buttons.forEach((button) => { button.disabled = true; });
  try {
    await call(dry, collect());
  } catch (problem) {
    if (problem instanceof Wrong) {
      mark(problem.control, problem.message);
      problem.control.focus();
    } else {
      show("Not sent", "bad", String(problem));
    }
  } finally {
    buttons.forEach((button) => { button.disabled = false; });
  }
});

document.getElementById("curl").addEventListener("click", async (event) => {
  clear();
  try {
    const quoted = JSON.stringify(collect()).replaceAll("'", "'\\''");
    await navigator.clipboard.writeText(`curl ${location.origin}${address} --json '${quoted}'`);
    event.target.textContent = "Copied";
  } catch (problem) {
    if (problem instanceof Wrong) mark(problem.control, problem.message);
    else event.target.textContent = "Not copied";
  }
  setTimeout(() => { event.target.textContent = "Copy as curl"; }, 1500);
});

// The definition in each provider's form, with what it cannot say.
async function dialects() {
  const names = (await (await fetch("/api/dialects")).json()).dialects;
  const group = document.getElementById("dialects");
  for (const name of names) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => dialect(name, group, button));
    group.append(button);
  }
}

async function dialect(name, group, pressed) {
  const answer = await (await fetch(`/api/dialects/${name}?tool=${encodeURIComponent(tool)}`)).json();
  group.querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button === pressed)));
  const shown = document.getElementById("definition");
  shown.textContent = JSON.stringify(answer.definitions, null, 2);
  shown.hidden = false;
  const losses = answer.report.map((loss) => {
    const item = document.createElement("li");
    item.textContent = [loss.level, loss.path, loss.message, loss.remedy].filter(Boolean).join(" · ");
    return item;
  });
  document.getElementById("losses").replaceChildren(...losses);
}

dialects();
form.querySelectorAll("button").forEach((button) => { button.disabled = false; });
