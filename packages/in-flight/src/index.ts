export { IN_FLIGHT_MAX, InFlight } from "./in-flight.js";
