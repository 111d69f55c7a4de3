/** Asks in `consent.html` whether a call is allowed. Everything in it is text, whoever has written it. */
({ client, name, origin, tool, text, delay }) =>
  new Promise((resolve) => {
    for (const [id, value] of Object.entries({ client, name, origin, tool, arguments: text })) {
      document.getElementById(id).textContent = value;
    }
    document.getElementById("named").hidden = !name;
    const buttons = document.querySelectorAll("button");
    let timer;
    /** So that a key or a click that was meant for another window, which may have covered this one, allows nothing. */
    function hold() {
      clearTimeout(timer);
      const allowing = [...buttons].filter(({ value }) => value !== "deny");
      allowing.forEach((button) => (button.disabled = true));
      timer = setTimeout(() => allowing.forEach((button) => (button.disabled = false)), delay);
    }
    hold();
    addEventListener("focus", hold);
    document.addEventListener("visibilitychange", hold);
    buttons.forEach((button) => button.addEventListener("click", () => resolve(button.value)));
  });
