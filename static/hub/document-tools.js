/**
 * The tools of a document's `modelContext` (WebMCP), for `mcpframe.hub.relay.document_tools`.
 *
 * It runs in the page's own world, as a polyfill is seen only there; the page cannot reach the object that it returns. A
 * page may have replaced any function that is called here: an exception of it is an error of the page's own tools.
 */
() => {
  const MEMBERS = ["name", "title", "description", "inputSchema", "annotations", "origin"];
  const MOST = 1000;
  const WAITS = "The form is filled in, and waits for the user of the page to check and submit it.";
  /** Milliseconds in which a form is filled in, or its arguments are rejected. */
  const FILLED_AFTER = 300;
  const running = new Map();
  let context = null;
  let changes = 0;
  /** @type {(value?: any) => void} */
  let wake = () => {};
  let timer;
  let pause = 250;
  let over = false;

  function changed() {
    changes += 1;
    wake();
  }

  /** A polyfill may be installed at any time, without an event. */
  function look() {
    let current = null;
    try {
      current = document.modelContext ?? null;
    } catch {}
    if (current !== context) {
      context = current;
      try {
        context?.addEventListener("toolchange", changed);
      } catch {}
      changed();
    }
  }

  function lookAgain() {
    look();
    pause = Math.min(2 * pause, 10_000);
    timer = setTimeout(lookAgain, pause);
  }

  const described = (tool) => {
    const definition = {};
    try {
      definition.framed = (tool.window ?? window) !== window;
    } catch {}
    for (const name of MEMBERS) {
      try {
        const text = JSON.stringify(tool[name]);
        if (text !== undefined) definition[name] = JSON.parse(text);
      } catch {}
    }
    return definition;
  };

  /** Return the result of an async function, or its error, as JSON. */
  async function outcome(work) {
    try {
      if (!context) throw new DOMException("This document has no modelContext.", "NotFoundError");
      return JSON.stringify({ value: (await work()) ?? null });
    } catch (error) {
      let [kind, message] = ["Error", "an error that cannot be read"];
      try {
        [kind, message] = [String(error?.name ?? "Error"), String(error?.message ?? error)];
      } catch {}
      return JSON.stringify({ kind, message });
    }
  }

  /** Whether a tool is a form that its user has to submit (WebMCP, declarative tools), in this document or a frame. */
  function waitsForUser(tool) {
    try {
      const forms = [...(tool.window ?? window).document.forms];
      const form = forms.find((each) => each.getAttribute("toolname") === tool.name);
      return form !== undefined && !form.hasAttribute("toolautosubmit");
    } catch {
      return false; // a frame of another origin
    }
  }

  lookAgain();
  addEventListener("DOMContentLoaded", look);
  addEventListener("load", look);

  return {
    /** Return the number of changes of the tools, once it differs from `known`; null at the end. */
    async next(known) {
      while (changes === known && !over) await new Promise((resolve) => (wake = resolve));
      return over ? null : JSON.stringify({ changes, there: context !== null });
    },

    list: () => outcome(async () => [...(await context.getTools({}))].slice(0, MOST).map(described)),

    /**
     * Run the tool of this name: of several, that at index `further`. A form is filled in; nobody waits for its user, who may
     * take any time.
     */
    run(id, name, text, further = 0) {
      const ending = new AbortController();
      running.set(id, ending);
      return outcome(async () => {
        const tool = [...(await context.getTools({}))].filter((each) => each.name === name)[further];
        if (!tool) throw new DOMException("The tool was removed.", "NotFoundError");
        const input = "__isWebMCPPolyfill" in context ? text : JSON.parse(text);
        const executing = context.executeTool(tool, input, { signal: ending.signal });
        const answers = [executing];
        if (waitsForUser(tool)) answers.push(new Promise((told) => setTimeout(() => told(WAITS), FILLED_AFTER)));
        const answer = await Promise.race(answers);
        if (answer === WAITS) executing.catch(() => {}); // its user has reset the form, or left
        return typeof answer === "string" ? answer : (JSON.stringify(answer ?? null) ?? null);
      }).finally(() => running.delete(id));
    },

    cancel(id) {
      running.get(id)?.abort();
    },

    stop() {
      over = true;
      clearTimeout(timer);
      removeEventListener("DOMContentLoaded", look);
      removeEventListener("load", look);
      try {
        context?.removeEventListener("toolchange", changed);
      } catch {}
      wake();
    },
  };
};
