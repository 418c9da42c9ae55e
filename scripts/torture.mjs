// `npm run torture -- --minutes 30`: the consistency rounds at length. The options are in test/consistency/torture.ts.
import '../build/test/consistency/torture.js';
