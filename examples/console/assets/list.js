// The list of conversations.

import { send } from "./send.js";

const list = document.getElementById("conversations");
const title = document.getElementById("title");
const dialog = document.getElementById("forget");
const problem = document.getElementById("problem");
const open = document.getElementById("chat").dataset.id;

// The title of a conversation is its first message. A conversation that is not listed is new, or older than all listed.
export function entitle(said, isFirst) {
  if (list.querySelector("a[aria-current]")) return;
  if (isFirst) title.textContent = said.trim().replace(/\s+/g, " ").slice(0, 80);
  const name = title.textContent;
  const entry = document.getElementById("entry").content.cloneNode(true);
  entry.querySelector(".title").textContent = name;
  entry.querySelector("button").setAttribute("aria-label", `Delete ${name}`);
  list.querySelector("ul").prepend(entry);
}

async function forget(entry) {
  const { ok, answer } = await send(`/chat/${entry.dataset.id}/delete`, {});
  if (!ok) throw new Error(answer.detail);
  if (entry.dataset.id === open) location.assign("/");
  else entry.remove();
}

// Asks before deleting a conversation.
list.addEventListener("click", (event) => {
  const entry = event.target.closest("button.forget")?.closest("li");
  if (!entry) return;
  dialog.querySelector(".name").textContent = entry.querySelector(".title").textContent;
  dialog.returnValue = "";
  dialog.onclose = () => {
    if (dialog.returnValue === "delete") forget(entry).catch((error) => { problem.textContent = error.message; });
  };
  dialog.showModal();
});

for (const time of list.querySelectorAll("time")) {
  const form = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
  time.textContent = new Date(time.dateTime).toLocaleString("en-GB", form);
}
