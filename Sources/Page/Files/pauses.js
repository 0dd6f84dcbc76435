// The pauses of a replay, in which no trade was missing.

const most = 32;

export class Pauses {
    constructor() {
        // The start of the present pause, and the earlier pauses, by `performance.now()`.
        this.since = null;
        this.past = [];
    }

    /** Records whether the replay is paused; a pause may have begun at `since`, before `now`. */
    take(isPaused, now, since = now) {
        if (isPaused) {
            this.since ??= since;
        } else if (this.since !== null) {
            this.past.push({ from: this.since, to: now });
            this.since = null;
            // The oldest pause is removed, and its length is added to the next one.
            if (this.past.length > most) {
                const { from, to } = this.past.shift();
                this.past[0].from -= to - from;
            }
        }
    }

    /** Returns the total length of the finished pauses since `begin`, ms. */
    after(begin) {
        return this.past.reduce((sum, { from, to }) => sum + Math.max(0, to - Math.max(from, begin)), 0);
    }
}
