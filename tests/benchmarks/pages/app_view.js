/** The peer of the view: the same with the official App SDK. */
import { App } from "@modelcontextprotocol/ext-apps";

const app = new App({ name: "view", version: "0.1.0" }, {});
app.ontoolresult = ({ content }) => {
  const line = document.createElement("p");
  line.id = "result";
  line.textContent = content[0].text;
  document.querySelector("#app").append(line);
};
await app.connect();
