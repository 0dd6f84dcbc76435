// When the replay behind the relay stood still: a time in which nothing was missing.

const most = 32;

export class Pauses {
    constructor() {
        // Times are `performance.now()`: since when it stands still, and from when to when it did before.
        this.since = null;
        this.past = [];
    }

    /** Takes in that the replay stands still, or goes on; one that stands still may do so since before `now`. */
    take(isPaused, now, since = now) {
        if (isPaused) {
            this.since ??= since;
        } else if (this.since !== null) {
            this.past.push({ from: this.since, to: now });
            this.since = null;
            // The oldest is forgotten, and its length is the next one's.
            if (this.past.length > most) {
                const { from, to } = this.past.shift();
                this.past[0].from -= to - from;
            }
        }
    }

    /** How much of the time since `begin` it stood still, the pause that lasts left aside, ms. */
    after(begin) {
        return this.past.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, begin)), 0);
    }
}
