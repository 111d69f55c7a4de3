/** The style sheet of `<mcp-server>`, constructed, as a policy (CSP) may forbid style elements. */

const TEXT = `
:host {
  --_text: var(--mcp-server-text, light-dark(#1d2126, #e8eaed));
  --_quiet: var(--mcp-server-quiet, light-dark(#5b636d, #a0a8b2));
  --_line: var(--mcp-server-line, light-dark(#dde0e4, #343a41));
  --_edge: var(--mcp-server-edge, light-dark(#858c95, #767e88));
  --_accent: var(--mcp-server-accent, light-dark(#2557b8, #8fb4ff));
  --_on-accent: var(--mcp-server-on-accent, light-dark(#fff, #16181b));
  --_error: var(--mcp-server-error, light-dark(#a3261b, #ff9d92));
  --_inset: var(--mcp-server-inset, light-dark(#f0f1f3, #202429));
  --_radius: var(--mcp-server-radius, 6px);
  display: block;
  overflow: hidden;
  border: 1px solid var(--_line);
  border-radius: var(--_radius);
  background: var(--mcp-server-background, light-dark(#fff, #16181b));
  color: var(--_text);
  font: var(--mcp-server-font, 15px/1.5 system-ui, sans-serif);
}
:host([hidden]), [hidden] { display: none !important; }
iframe {
  display: block;
  box-sizing: border-box;
  width: 100%;
  height: var(--mcp-server-page-height, 24rem);
  border: 0;
  border-bottom: 1px solid var(--_line);
}
.bar {
  display: flex;
  flex-wrap: wrap;
  gap: 0.5rem;
  align-items: center;
  padding: 0.5rem 0.75rem;
}
.status { flex: 1 1 12rem; min-width: 0; margin: 0; color: var(--_quiet); overflow-wrap: anywhere; }
.status.failed, .problem, .result.failed { color: var(--_error); }
details.tool { border-top: 1px solid var(--_line); }
summary { padding: 0.5rem 0.75rem; cursor: pointer; overflow-wrap: anywhere; }
details.tool > summary { font-weight: 600; }
.body { padding: 0 0.75rem 0.75rem; }
.description { margin: 0 0 0.75rem; white-space: pre-line; overflow-wrap: anywhere; }
.field { display: grid; gap: 0.2rem; margin-bottom: 0.75rem; }
.field.check { grid-template-columns: auto 1fr; align-items: center; column-gap: 0.5rem; }
.field.check > label { order: 1; }
.field.check > p { order: 2; grid-column: 1 / -1; }
label { font-weight: 600; overflow-wrap: anywhere; }
label span { color: var(--_quiet); font-weight: 400; }
.hint, .problem { margin: 0; font-size: 0.9em; white-space: pre-line; overflow-wrap: anywhere; }
.hint { color: var(--_quiet); }
input, select, textarea {
  box-sizing: border-box;
  min-width: 0;
  min-height: 2.2em;
  padding: 0.3em 0.5em;
  border: 1px solid var(--_edge);
  border-radius: var(--_radius);
  background: transparent;
  color: inherit;
  font: inherit;
}
option { background: light-dark(#fff, #16181b); color: light-dark(#1d2126, #e8eaed); }
input[type="checkbox"] { width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--_accent); }
textarea { max-height: 24em; resize: vertical; field-sizing: content; }
textarea.json { font-family: ui-monospace, monospace; }
[aria-invalid="true"] { border-color: var(--_error); }
.question { padding: 0.75rem; border-top: 1px solid var(--_line); background: var(--_inset); }
.asker { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.question .description { margin-top: 0.75rem; }
.address { margin: 0 0 0.75rem; font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
button, a.main {
  min-height: 2.2em;
  padding: 0.2em 0.9em;
  border: 1px solid var(--_edge);
  border-radius: var(--_radius);
  background: transparent;
  color: inherit;
  font: inherit;
  cursor: pointer;
}
a.main { display: inline-flex; box-sizing: border-box; align-items: center; text-decoration: none; }
.main { border-color: var(--_accent); background: var(--_accent); color: var(--_on-accent); }
:focus-visible { outline: 2px solid var(--_accent); outline-offset: 2px; }
summary:focus-visible, .result:focus-visible, .question:focus-visible { outline-offset: -2px; }
.calling { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; }
.calling progress { flex: 1 1 8rem; min-width: 0; accent-color: var(--_accent); }
.calling .message { flex-basis: 100%; margin: 0; color: var(--_quiet); overflow-wrap: anywhere; }
.result {
  max-height: var(--mcp-server-result-height, 24rem);
  margin-top: 0.75rem;
  padding: 0.5rem 0.75rem;
  overflow: auto;
  border-radius: var(--_radius);
  background: var(--_inset);
}
.result pre {
  margin: 0 0 0.5rem;
  font: 0.9em/1.45 ui-monospace, monospace;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
}
.result summary { padding: 0.25rem 0; }
.result > :last-child, .result details > :last-child { margin-bottom: 0; }
.result img { display: block; max-width: 100%; margin-bottom: 0.5rem; }
`;

let sheet;

/** Return the sheet, which all elements of the page share. */
export function styleSheet() {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(TEXT);
  }
  return sheet;
}
