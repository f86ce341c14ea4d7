// Loaded before a server that would listen at every address of the machine: now it listens at 127.0.0.1, and says where.
const { Server } = require("node:net");

const { listen } = Server.prototype;
Server.prototype.listen = function (port, ...rest) {
  this.once("listening", () => {
    const { address, port } = this.address();
    console.error(`listening at ${address}:${port}`);
  });
  return listen.call(this, port, "127.0.0.1", ...rest);
};
