export { type Asked, type Failure, FakeContainer, type Paths } from "./fake-container.js";
