// Draws points on a canvas, in the colours of the page.

const SIDE = 1000; // dots of the canvas; CSS scales it

/** Return the functions that draw on a canvas element. */
export function canvas(element) {
  element.width = element.height = SIDE;
  const context = element.getContext("2d");
  let all = [];

  const colourOf = (selector) => getComputedStyle(document.querySelector(selector)).color;

  function ground() {
    context.clearRect(0, 0, SIDE, SIDE);
    context.lineWidth = 4;
    context.strokeStyle = getComputedStyle(element).borderTopColor;
    context.beginPath();
    context.arc(0, SIDE, SIDE, -Math.PI / 2, 0);
    context.stroke();
  }

  function dots(points) {
    for (const inside of [true, false]) {
      context.fillStyle = colourOf(inside ? ".pi .in" : ".pi .out"); // of the legend
      for (const [x, y] of points) {
        if (x * x + y * y <= 1 === inside) context.fillRect(x * SIDE - 2, (1 - y) * SIDE - 2, 4, 4);
      }
    }
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    ground();
    dots(all);
  });
  ground();

  return {
    /** Draw points, given as JSON [[x, y], …] from 0 to 1; with `anew` on an empty canvas. */
    draw(text, anew) {
      const points = JSON.parse(text);
      if (anew) {
        all = [];
        ground();
      }
      all.push(...points);
      dots(points);
    },
  };
}
