// The page of a conversation: sends messages and renders events. HTML comes only from this server, which has escaped it;
// everything else is set as text.

import { entitle } from "./list.js";
import { send } from "./send.js";

const chat = document.getElementById("chat");
const form = document.getElementById("say");
const text = document.getElementById("text");
const stop = document.getElementById("stop");
const problem = document.getElementById("problem");
const modes = document.getElementById("modes");
const base = `/chat/${chat.dataset.id}`;

async function post(path, body) {
  const { ok, answer } = await send(base + path, body);
  if (!ok) throw new Error(answer.detail);
}

const run = {
  section: null, // the element of the run
  text: null, // the text that is being streamed
  thought: null, // the reasoning of the model

  number: chat.dataset.unended ?? null, // the number of the current run
  seen: Number(chat.dataset.seen), // the number of messages on the page, without those of the run

  begin(number, said) {
    this.number = number;
    document.querySelector(".welcome")?.remove();
    document.querySelector(`[data-run="${number}"]`)?.remove();
    this.section = document.createElement("section");
    this.section.className = "run";
    this.section.dataset.run = number;
    this.text = this.thought = null;
    if (said !== null) {
      entitle(said, this.seen === 0);
      const bubble = document.createElement("div");
      bubble.className = "said";
      bubble.textContent = said;
      this.section.append(bubble);
    }
    chat.append(this.section);
    stop.hidden = false;
  },

  think(piece) {
    if (this.thought === null) {
      const details = document.createElement("details");
      details.className = "thinking";
      const summary = document.createElement("summary");
      summary.textContent = "Thinking";
      this.thought = document.createElement("div");
      details.append(summary, this.thought);
      this.section.append(details);
    }
    this.thought.append(piece);
  },

  // The request is retried: the reasoning of the failed attempt is not part of the response.
  retry() {
    this.thought?.closest("details").remove();
    this.thought = null;
  },

  add(piece) {
    this.thought = null;
    if (this.text === null) {
      this.text = document.createElement("div");
      this.text.className = "answer live";
      this.section.append(this.text);
    }
    this.text.append(piece);
  },

  // Replaces the streamed text by rendered Markdown.
  block(html) {
    if (this.text === null) this.add("");
    this.text.classList.remove("live");
    this.text.innerHTML = html;
    this.text = null;
  },

  card(id, html) {
    this.thought = null;
    const template = document.createElement("template");
    template.innerHTML = html;
    const card = template.content.firstElementChild;
    const old = chat.querySelector(`[data-call="${CSS.escape(id)}"]`);
    if (old) {
      card.open ||= old.open && card.dataset.state !== "running";
      old.replaceWith(card);
    } else {
      this.section.append(card);
    }
    if (card.dataset.state === "pending") ask(card);
  },

  progress(id, said) {
    const card = chat.querySelector(`[data-call="${CSS.escape(id)}"] .progress`);
    if (card) card.textContent = said;
  },

  end(html, messages) {
    this.number = null;
    this.seen = messages;
    if (html) {
      const template = document.createElement("template");
      template.innerHTML = html;
      this.section.append(template.content);
    }
    this.text = this.thought = null;
    stop.hidden = true;
  },
};

// Delay in milliseconds before a question can be approved, so that a key press or click meant for something else does not
// approve it unread.
const UNREAD = 500;

// Focuses a question but never its approve button, and not while the user is typing.
function ask(card) {
  const agreeing = card.querySelectorAll("button[value=run], button[value=edit]");
  agreeing.forEach((button) => { button.disabled = true; });
  setTimeout(() => agreeing.forEach((button) => { button.disabled = false; }), UNREAD);
  const focused = document.activeElement;
  if (focused === document.body || (focused === text && text.value === "")) card.querySelector("summary").focus();
}

// Returns true if all questions on this page are still pending: they may have been decided in another window.
function areAsked(waiting) {
  return [...chat.querySelectorAll("form.decide")].every((asked) => waiting.includes(asked.dataset.token));
}

function isAtEnd() {
  const page = document.documentElement;
  return page.scrollHeight - page.scrollTop - page.clientHeight < 120;
}

function draw(note) {
  const follow = isAtEnd();
  switch (note.kind) {
    case "begin": run.begin(note.run, note.said); break;
    case "thinking": run.think(note.text); break;
    case "retrying": run.retry(); break;
    case "text": run.add(note.text); break;
    case "block": run.block(note.html); break;
    case "card": run.card(note.id, note.html); break;
    case "progress": run.progress(note.id, note.text); break;
    case "end": run.end(note.html, note.messages); if (!note.whole) location.reload(); break;
    case "state": press(note.mode); if (!areAsked(note.waiting)) location.reload(); break;
    case "mode": press(note.mode); break;
    case "deleted": location.assign("/"); return;
    case "reload": location.reload(); return;
  }
  if (follow) scrollTo(0, document.documentElement.scrollHeight);
}

const LOST = "Connection lost. Reconnecting.";
let failures = 0;

// Timeout in milliseconds without events; the server sends a keep-alive every 15 seconds. A connection may be lost without
// an error, such as while a machine is asleep.
const SILENCE = 45_000;

// Connects with the number of messages on the page: the current run is drawn again from its beginning, and if a run has
// ended in the meantime the page gets a reload event. An automatic reconnect would repeat the original query.
function listen() {
  const unended = run.number === null ? "" : `&run=${run.number}`;
  const events = new EventSource(`${base}/events?messages=${run.seen}${unended}`);
  events.onopen = () => {
    failures = 0;
    if (problem.textContent === LOST) problem.textContent = "";
  };
  const lost = async () => {
    clearTimeout(silence);
    events.close();
    failures += 1;
    if (failures > 1) problem.textContent = LOST;
    // Replace this page in the history, since it cannot be shown again.
    if (await isLoggedOut()) location.replace("/login");
    else setTimeout(listen, Math.min(250 * 2 ** failures, 10_000));
  };
  let silence = setTimeout(lost, SILENCE);
  events.onmessage = (event) => {
    clearTimeout(silence);
    silence = setTimeout(lost, SILENCE);
    draw(JSON.parse(event.data));
  };
  events.onerror = lost;
}

async function isLoggedOut() {
  const signal = AbortSignal.timeout(10_000);
  const response = await fetch("/", { method: "HEAD", redirect: "manual", signal }).catch(() => null);
  return response?.status === 401;
}

function press(mode) {
  for (const one of modes.querySelectorAll("button")) one.setAttribute("aria-pressed", String(one.value === mode));
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const said = text.value;
  if (said.trim() === "") return;
  problem.textContent = "";
  // Not later: when the response arrives a call may be pending, and then it has the focus.
  text.focus();
  try {
    await post("/say", { text: said });
    // The user may have continued typing.
    if (text.value === said) text.value = "";
  } catch (error) {
    problem.textContent = error.message;
  }
});

text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});

stop.addEventListener("click", () => post("/stop", {}).catch((error) => { problem.textContent = error.message; }));

modes.addEventListener("click", async (event) => {
  const pressed = event.target.closest("button");
  if (!pressed) return;
  try {
    await post("/mode", { mode: pressed.value });
    press(pressed.value);
  } catch (error) {
    problem.textContent = error.message;
  }
});

document.querySelector(".examples")?.addEventListener("click", (event) => {
  const example = event.target.closest("button");
  if (!example) return;
  text.value = example.textContent;
  text.focus();
});

// A key that is held down would also press the next focused button.
let isHeld = false;
addEventListener("keydown", (event) => { isHeld = event.repeat; }, true);
addEventListener("keyup", () => setTimeout(() => { isHeld = false; }), true);
// Another window receives the keyup event.
addEventListener("blur", () => { isHeld = false; });

// Enter in the reason field refuses. By default a browser would press the first button, which approves.
chat.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || !event.target.matches("form.decide [name=reason]")) return;
  event.preventDefault();
  const { form } = event.target;
  if (!event.repeat) form.requestSubmit(form.querySelector("button[value=refuse]"));
});

// Sends the user's decision about a pending call.
chat.addEventListener("submit", async (event) => {
  const asked = event.target.closest("form.decide");
  if (!asked) return;
  event.preventDefault();
  if (isHeld || !event.submitter) return;
  const said = asked.querySelector(".error");
  said.textContent = "";
  const decision = event.submitter.value;
  const body = { token: asked.dataset.token, decision, reason: asked.elements.reason.value };
  if (decision === "edit") body.edited = asked.elements.edited.value;
  try {
    await post("/decide", body);
  } catch (error) {
    said.textContent = error.message;
  }
});

listen();
form.querySelector("button.primary").disabled = text.disabled;
scrollTo(0, document.documentElement.scrollHeight);
