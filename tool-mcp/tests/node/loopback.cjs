// Preloaded into a server that would listen on all interfaces: makes it listen on 127.0.0.1 and print its address.
const { Server } = require("node:net");

const { listen } = Server.prototype;
Server.prototype.listen = function (port, ...rest) {
  this.once("listening", () => {
    const { address, port } = this.address();
    console.error(`listening at ${address}:${port}`);
  });
  return listen.call(this, port, "127.0.0.1", ...rest);
};
