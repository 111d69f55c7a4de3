// Prints the code points with Unicode's property Default_Ignorable_Code_Point, as this Node's ICU has it: the ranges of
// `mcpframe/frame/core/visible.py`, as JSON.
const ranges = [];
for (let code = 0; code < 0x110000; code += 1) {
  if (!/\p{Default_Ignorable_Code_Point}/u.test(String.fromCodePoint(code))) continue;
  if (ranges.at(-1)?.[1] === code - 1) ranges.at(-1)[1] = code;
  else ranges.push([code, code]);
}
console.log(JSON.stringify(ranges));
