// Sends a request and returns the response body and whether it succeeded. The error message is in `detail`.

export async function send(address, body) {
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (response.status === 401) throw new Error("You are logged out. Log in in another tab and try again.");
  const answer = await response.json().catch(() => ({ detail: response.statusText }));
  return { ok: response.ok, status: response.status, answer };
}
