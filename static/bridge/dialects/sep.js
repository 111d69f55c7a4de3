/** The page around a framed server that speaks the SEP: that of host.js. */
export { FrameTransport as Transport } from "../../host/host.js";
