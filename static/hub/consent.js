/** Asks in `consent.html` whether a call or a read is allowed. Everything in it is set as text. */
({ title, what, always, client, name, origin, tool, text, delay }) =>
  new Promise((resolve) => {
    for (const [id, value] of Object.entries({ title, what, always, client, name, origin, tool, arguments: text })) {
      document.getElementById(id).textContent = value;
    }
    for (const each of document.querySelectorAll(".of-tools")) each.toggleAttribute("hidden", !text);
    document.getElementById("named").hidden = !name;
    const buttons = document.querySelectorAll("button");
    let timer;
    /** A key or a click may have been meant for a window that covered this one: it must not allow anything. */
    function hold() {
      clearTimeout(timer);
      const disable = (disabled) => {
        for (const button of buttons) if (button.value !== "deny") button.disabled = disabled;
      };
      disable(true);
      timer = setTimeout(disable, delay, false);
    }
    hold();
    addEventListener("focus", hold);
    document.addEventListener("visibilitychange", hold);
    for (const button of buttons) button.addEventListener("click", () => resolve(button.value));
  });
