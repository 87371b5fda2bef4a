// A browser starts no worker for a page that was opened from a disk. The search of this site runs in one, so there it
// runs in a hidden frame instead: the frame loads the worker's script, and messages go to and fro by calls.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise((resolve) => {
        frame.addEventListener("load", () => {
          const inside = frame.contentWindow;
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          inside.importScripts = (...names) => Promise.all(names.map((name) => load(inside, name)));
          load(inside, address).then(() => resolve(inside));
        }, { once: true });
      });
      frame.srcdoc = "<!doctype html><title>Search</title>";
      document.body.append(frame);
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {}
  };

  function load(inside, address) {
    return new Promise((resolve, reject) => {
      const script = inside.document.createElement("script");
      script.src = new URL(address, document.baseURI);
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${address} cannot be loaded`));
      inside.document.body.append(script);
    });
  }
}
