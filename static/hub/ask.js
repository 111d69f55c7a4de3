/** Asks in `ask.html` whether a call is allowed. Everything in it is text, whoever has written it. */
({ origin, tool, text, delay }) =>
  new Promise((resolve) => {
    for (const [id, value] of Object.entries({ origin, tool, arguments: text })) {
      document.getElementById(id).textContent = value;
    }
    const buttons = document.querySelectorAll("button");
    // So that a key or a click that was meant for another page allows nothing.
    setTimeout(() => buttons.forEach((button) => (button.disabled = false)), delay);
    buttons.forEach((button) => button.addEventListener("click", () => resolve(button.value)));
  });
