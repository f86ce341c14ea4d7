// The form of a tool: collects the arguments, makes the call and shows the result. All text is set as text.

import "./dialects.js";
import { Wrong, collect, focusWrong, mark, markAt, parse, unmark } from "./fields.js";
import { send } from "./send.js";

const form = document.getElementById("call");
const result = document.getElementById("result");
const address = `/api/tools/${encodeURIComponent(form.dataset.tool)}`;

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
    return JSON.stringify(parse(text), null, 2);
  } catch {
    return text;
  }
}

async function call(dry, values) {
  const begun = performance.now();
  const { ok, status, answer } = await send(dry ? `${address}?dry_run=true` : address, values);
  const took = `${Math.round(performance.now() - begun)} ms`;
  if (status === 202) return pending(answer);
  show(`${ok ? (dry ? "Would run" : "Done") : "Failed"} · ${took}`, ok ? "calm" : "bad", answer.output ?? answer.detail,
    dry ? answer.metadata : undefined);
  for (const { path, received, expected } of answer.error?.arguments ?? []) {
    const said = received == null ? expected : `got ${received}, expected ${expected}`;
    markAt(path, `${said[0].toUpperCase()}${said.slice(1)}.`);
  }
  focusWrong();
}

// Asks the user to approve a pending call.
function pending(answer) {
  const { token } = answer.metadata;
  show("Needs your approval", "warn", answer.output, answer.metadata.preview);
  const buttons = document.createElement("div");
  buttons.className = "buttons";
  for (const [name, label, style] of [["approve", "Run it", "primary"], ["refuse", "Refuse", ""]]) {
    const button = document.createElement("button");
    button.textContent = label;
    button.className = style;
    button.addEventListener("click", () => {
      // A token can be used once.
      buttons.querySelectorAll("button").forEach((one) => { one.disabled = true; });
      decide(name, token).catch(unanswered);
    });
    buttons.append(button);
  }
  result.append(buttons);
  // Do not focus the approve button: the next key press may be meant for something else.
  const heading = result.querySelector("h2");
  heading.tabIndex = -1;
  heading.focus();
}

async function decide(name, token) {
  const { ok, answer } = await send(`/api/pending/${name}`, { token });
  const done = name === "refuse" ? "Refused" : "Done";
  show(ok ? done : "Failed", ok ? "calm" : "bad", answer.output ?? answer.detail);
}

// The server may have received the request.
function unanswered(problem) {
  show("No response", "bad", `${problem.message}\nThe journal shows whether the call has run.`);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  unmark();
  const dry = event.submitter?.value === "dry";
  const buttons = form.querySelectorAll("button");
  buttons.forEach((button) => { button.disabled = true; });
  try {
    await call(dry, collect());
  } catch (problem) {
    if (problem instanceof Wrong) {
      mark(problem.node, problem.message);
      focusWrong();
    } else {
      unanswered(problem);
    }
  } finally {
    buttons.forEach((button) => { button.disabled = false; });
  }
});

document.getElementById("curl").addEventListener("click", async (event) => {
  unmark();
  try {
    const quoted = JSON.stringify(collect()).replaceAll("'", "'\\''");
    const token = form.dataset.token === undefined ? "" : ` -H "Authorization: Bearer $CONSOLE_TOKEN"`;
    await navigator.clipboard.writeText(`curl ${location.origin}${address}${token} --json '${quoted}'`);
    event.target.textContent = "Copied";
  } catch (problem) {
    if (problem instanceof Wrong) mark(problem.node, problem.message);
    else event.target.textContent = "Not copied";
  }
  setTimeout(() => { event.target.textContent = "Copy as curl"; }, 1500);
});

form.querySelectorAll("button").forEach((button) => { button.disabled = false; });
