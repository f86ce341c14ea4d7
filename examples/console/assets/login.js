// The link that the console prints has the token in its fragment, which browsers do not send.

const form = document.getElementById("login");

function logIn() {
  const token = location.hash.slice(1);
  if (token === "") return;
  history.replaceState(null, "", location.pathname);
  form.elements.token.value = token;
  form.requestSubmit();
}

addEventListener("hashchange", logIn);
logIn();
