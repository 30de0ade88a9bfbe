import "./style/base.css";
import "./style/frame.css";
import "./style/query.css";
import "./style/classes.css";
import "./style/object.css";
import { h, render } from "preact";
import { App } from "./app.js";
import { Session } from "./session/session.js";

const session = new Session({
  storage: sessionStorage,
  now: () => Date.now(),
  address: () => new URL(location.href),
  leave: (url) => location.assign(url),
  showAddress: (pathAndFragment) => history.replaceState(null, "", pathAndFragment),
});
const root = document.getElementById("console");
if (root !== null) render(h(App, { session, storage: localStorage, now: () => Date.now() }), root);
void session.start();
