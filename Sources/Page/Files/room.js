// The pane Room: the messages of the chosen symbol's room or of the lobby (/v1/room/NAME), who is there, and a form to
// take part. A message is shown when the relay sends it to everybody. Texts of users are set as text, never as HTML.

import { element } from "./finding.js";
import { RelayConnection } from "./relay.js";
import { relayWords } from "./words.js";
import { clock, moment, zoneName } from "./zone.js";

const userKey = "tickertape.user";
const mostMessages = 200;
const mostNotices = 20; // of users who joined or left
const mostUsers = 1000;
const mostNames = 12;

/** Returns the time of an event: the time of day, with the date unless it is of today. */
function shortTime(milliseconds) {
    const whole = moment(milliseconds);
    return whole.slice(0, 10) === moment(Date.now()).slice(0, 10) ? clock(milliseconds) : whole;
}

/** Returns a line of the list. A bdi element keeps the writing direction of its text from changing that of the rest. */
function line(className, { time, user }, between, text) {
    const item = element("li", className, "");
    const said = element("time", "", shortTime(time));
    said.title = `${moment(time)} ${zoneName(time)}`;
    item.append(said, " ", element("bdi", "user", String(user)), between, text);
    return item;
}

/** Returns the text to submit, without lone surrogates: the relay reads one as U+FFFD, and its echo would differ. */
const submitted = (field) => field.value.trim().replace(/\p{Surrogate}/gu, "\ufffd");

const messageLine = (event) => line("message", event, ": ", element("bdi", "", String(event.message)));

export class Room {
    /** @param stream the page's connection to /v1/stream, which has the token and detects a dead relay */
    constructor(stream) {
        this.stream = stream;
        this.parts = {};
        for (const id of ["choice", "symbol", "state", "log", "list", "form", "user", "text", "note"]) {
            this.parts[id] = document.getElementById(`room-${id}`);
        }
        this.pane = document.getElementById("room");
        // The room of the connection or null, and the one that the list shows.
        this.entered = null;
        this.shown = null;
        this.connection = new RelayConnection({
            message: (message) => this.#received(message),
            changed: () => this.tick(performance.now()),
            interrupted: () => {},
        }, { path: "", greeting: "room", pings: false });
        this.connection.close();
        this.users = new Map();
        this.newestID = 0;
        // Of the shown room: the name that was asked for last, the one that the relay gave, and the message without an
        // answer: { text, after: the newest id before }.
        this.user = "";
        this.taken = "";
        this.sent = null;
        try {
            this.parts.user.value = localStorage.getItem(userKey) ?? "";
        } catch {
            // Without storage the name lasts for this visit.
        }
        this.pane.addEventListener("toggle", () => {
            if (this.pane.open) this.pane.scrollIntoView({ block: "nearest" });
            this.update();
        });
        this.parts.choice.addEventListener("change", () => this.update());
        this.parts.form.addEventListener("submit", (event) => {
            event.preventDefault();
            // The name in the one form of its characters by which it is compared.
            this.#submit(submitted(this.parts.user).normalize(), submitted(this.parts.text));
        });
    }

    /** Takes the relay's status, or null. It counts clients of rooms only where there are rooms. */
    offer(status) {
        if (status === null) return;
        this.pane.hidden = status.clients?.room === undefined;
        this.update();
    }

    choose(symbol) {
        const option = this.parts.symbol;
        option.value = option.textContent = symbol;
        option.hidden = false;
        this.update();
    }

    /** Enters the chosen room if the pane is open and the relay answers; leaves any other. */
    update() {
        const isWanted = !this.pane.hidden && this.pane.open && this.stream.state === "open";
        const name = isWanted ? this.parts.choice.value : null;
        if (name === this.entered) return;
        this.entered = name;
        this.connection.close();
        this.parts.state.textContent = "Not connected to the relay";
        if (name === null) return;
        if (name !== this.shown) {
            this.shown = name;
            this.parts.list.replaceChildren();
            this.parts.note.textContent = "";
            this.user = this.taken = "";
            this.sent = null;
        }
        this.connection.path = `/v1/room/${encodeURIComponent(name)}`;
        this.connection.token = this.stream.token;
        this.connection.connect();
    }

    /** Checks the deadlines of the connection and shows its state. A hidden tab does not reconnect. */
    tick(now) {
        if (this.entered === null || document.hidden) return;
        this.connection.tick(now);
        const words = relayWords(this.connection, now);
        if (words === null) return;
        const text = `${words.word}, ${words.detail}`;
        if (this.parts.state.textContent !== text) this.parts.state.textContent = text;
    }

    #received(event) {
        switch (event.type) {
        case "room":
            return this.#greeted(event);
        case "message":
            this.#add(messageLine(event));
            this.newestID = event.id;
            return this.#confirm(event);
        case "joined":
            if (this.users.size < mostUsers) this.users.set(event.userId, String(event.user));
            if (event.user === this.user) this.#took();
            this.#add(line("presence", event, " joined", ""));
            return this.#showUsers();
        case "left":
            this.users.delete(event.userId);
            this.#add(line("presence", event, " left", ""));
            return this.#showUsers();
        case "error":
            this.#refused(String(event.msg));
        }
    }

    #greeted({ users, messages, limits }) {
        const { log, list, user, text } = this.parts;
        const present = Array.isArray(users) ? users.slice(0, mostUsers) : [];
        const newest = Array.isArray(messages) ? messages.slice(-mostMessages) : [];
        this.users = new Map(present.map((each) => [each.userId, String(each.user)]));
        // A screen reader reads what is said from now on.
        log.setAttribute("aria-live", "off");
        list.replaceChildren(...newest.map(messageLine));
        log.scrollTop = 0; // the end, see style.css
        setTimeout(() => { log.setAttribute("aria-live", "polite"); }, 500);
        this.newestID = newest.at(-1)?.id ?? 0;
        this.#showUsers();
        for (const [field, bytes] of [[user, limits?.userBytes], [text, limits?.messageBytes]]) {
            if (Number.isInteger(bytes)) field.maxLength = bytes;
        }
        if (this.sent !== null) {
            // The connection ended before the answer.
            newest.filter(({ id }) => id > this.sent.after).forEach((message) => this.#confirm(message));
            if (this.sent !== null) this.#refused("the connection was lost; send it again");
        }
        // After a break: the name that the user had here, not what is in the field, which may be half typed.
        this.user = this.taken;
        if (this.taken !== "") this.#send(this.taken, {});
    }

    #add(item) {
        const list = this.parts.list;
        list.append(item);
        const lines = list.getElementsByClassName(item.className);
        if (lines.length > (item.className === "message" ? mostMessages : mostNotices)) lines[0].remove();
    }

    #showUsers() {
        const names = [...this.users.values()];
        const state = this.parts.state;
        state.replaceChildren(names.length === 0 ? "No users yet" : `${names.length} here: `);
        names.slice(0, mostNames).forEach((name, index) => state.append(index === 0 ? "" : ", ", element("bdi", "", name)));
        if (names.length > mostNames) state.append(` and ${names.length - mostNames} more`);
    }

    /** Sends a message with the name, or takes the name if there is no message. */
    #submit(user, text) {
        const { note, user: field } = this.parts;
        if (user === "") {
            note.textContent = "Type your name first.";
            return field.focus();
        }
        if (this.connection.state !== "open") {
            note.textContent = "Not sent: there is no connection to the room.";
            return;
        }
        if (this.sent !== null) {
            note.textContent = "Not sent: the last message is not answered yet.";
            return;
        }
        note.textContent = "";
        if (text === "") return this.#send(user, {});
        this.sent = { text, after: this.newestID };
        this.#send(user, { message: text });
    }

    #send(user, message) {
        this.user = user;
        this.connection.send({ user, ...message });
    }

    #took() {
        this.taken = this.user;
        try {
            localStorage.setItem(userKey, this.taken);
        } catch {
            // As above.
        }
    }

    /** Empties the field if this is the user's own message. */
    #confirm({ user, message }) {
        if (this.sent === null || user !== this.user || message !== this.sent.text) return;
        this.sent = null;
        this.parts.note.textContent = "";
        if (submitted(this.parts.text) === message) this.parts.text.value = "";
    }

    /** Shows why the relay did not take the message or the name. The message stays in its field. */
    #refused(why) {
        this.parts.note.textContent = `${this.sent === null ? "Name not taken" : "Not sent"}: ${why}`;
        this.sent = null;
    }
}
