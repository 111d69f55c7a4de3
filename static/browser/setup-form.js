/**
 * The form of a framed server's setup, for mcpframe.kit.browser.devtools.setup_form, which calls this function in the framed
 * page. Fields are named by their labels, and buttons by their texts, as a person sees them, or by a CSS selector.
 */
() => {
  const BUTTONS = "button, [role=button], input[type=button], input[type=submit], input[type=reset]";
  const FIELDS = "input, select, textarea, [contenteditable]";
  const SETTLING = 50; // milliseconds

  /** @type {any} */
  let chosen;

  const plain = (text) => (text ?? "").replace(/\s+/g, " ").trim();
  const isVisible = (element) => element.checkVisibility({ visibilityProperty: true });

  /** Return the names of a field or a button. */
  function namesOf(element) {
    const ids = element.getAttribute("aria-labelledby")?.split(/\s+/) ?? [];
    const labels = [...ids.map((id) => document.getElementById(id)), ...(element.labels ?? [])];
    const names = [...labels.map((label) => label?.textContent), element.getAttribute("aria-label")];
    if (element.matches(BUTTONS)) names.push(element.localName === "input" ? element.value : element.textContent);
    return names.map(plain).filter(Boolean);
  }

  /** @returns {any[]} */
  function called(name, button) {
    const selector = /^(?:css=(.*)|([#.[].*))$/s.exec(name);
    if (selector) return [...document.querySelectorAll(selector[1] ?? selector[2])];
    const all = [...document.querySelectorAll(button ? BUTTONS : FIELDS)];
    const sought = plain(name).toLowerCase();
    const those = (fits) => all.filter((element) => namesOf(element).some((each) => fits(each.toLowerCase())));
    const exact = those((each) => each === sought);
    return exact.length ? exact : those((each) => each.includes(sought));
  }

  function tell(element) {
    for (const type of ["input", "change"]) element.dispatchEvent(new Event(type, { bubbles: true }));
  }

  async function until(look, seconds) {
    const end = performance.now() + seconds * 1000;
    for (;;) {
      const result = look();
      if (result || performance.now() > end) return result;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  return {
    /** Return whether a bundle's page starts or fails in time: it calls its host from its head, before the rest is parsed. */
    started(seconds) {
      const isStarted = () => {
        const state = document.getElementById("mcpframe-page")?.dataset.state;
        return document.readyState !== "loading" && !["loading", "booting"].includes(state);
      };
      return until(isStarted, seconds);
    },

    /** Wait for a field, or a button, that can be used, and choose it. */
    async find({ name, button, seconds }) {
      let reason;
      const look = () => {
        const controls = called(name, button);
        const usable = controls.filter((each) => each.matches(":enabled") && (each.type === "file" || isVisible(each)));
        if (usable.length > 1) throw new Error(`${usable.length} have this name`);
        reason = controls.length ? "it is hidden or disabled" : "there is none of this name";
        return usable[0];
      };
      chosen = await until(look, seconds);
      if (!chosen) throw new Error(reason);
      // A setup shows its form, and listens a moment later: before that, its click would be lost.
      await new Promise((resolve) => setTimeout(resolve, SETTLING));
    },

    /** Return the chosen field, for its files. */
    chosen: () => chosen,

    /** Return the names of all fields and buttons that can be seen. */
    offered() {
      /** @type {any[]} */
      const all = [...document.querySelectorAll(`${FIELDS}, ${BUTTONS}`)];
      const shown = all.filter((element) => isVisible(element) && element.type !== "hidden");
      return shown.map((element) => namesOf(element)[0]).filter(Boolean);
    },

    /** Enter a text into the chosen field, or choose it there, or press the button (null). */
    enter(value) {
      const element = chosen;
      element.focus();
      if (value === null) {
        element.click();
      } else if (element.localName === "select") {
        const option = [...element.options].find((each) => [each.value, plain(each.label)].includes(value));
        if (!option) throw new Error(`it has no choice ${JSON.stringify(value)}`);
        option.selected = true;
        tell(element);
      } else if (["checkbox", "radio"].includes(element.type) && ["true", "false"].includes(value)) {
        if (element.checked !== (value === "true")) element.click();
      } else if (element.isContentEditable) {
        element.textContent = value;
        tell(element);
      } else {
        // A library of components may have replaced the element's own property.
        Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), "value").set.call(element, value);
        if (value && !element.value)
          throw new Error(`a field of ${element.type} does not take ${JSON.stringify(value)}`);
        tell(element);
      }
    },
  };
};
