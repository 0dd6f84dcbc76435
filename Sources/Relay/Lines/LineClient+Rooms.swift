import NIOCore

// The rooms of a client of lines, which is in one room at a time.
extension LineClient: RoomMember {
    /// Goes to a room, and shows it. In another room the client has no name yet.
    ///
    /// - Parameter form: the form of all its lines from now on; `nil` for that of before.
    func choose(room name: String, in form: LineForm?) {
        self.answering { () throws(RoomFault) in
            if let fault = RoomName.fault(in: name) { throw fault }
            try self.context.rooms.move(self, from: self.room, to: name)
            self.room = name
            let isOtherForm = self.take(form)
            // Trades are grouped by their form.
            if isOtherForm { self.wishesChanged() }
            self.showRoom(name)
            self.begun([], isOtherForm: isOtherForm)
        }
    }

    /// Takes a name, or sends a message. Its event is the answer.
    func submit(message: String? = nil, user: String? = nil) {
        self.answering { () throws(RoomFault) in
            let submission = try RoomSubmission(message: message, user: user)
            let room = self.room ?? RoomName.usual
            let number = try self.context.rooms.submit(submission, by: self, in: room)
            self.room = room
            if number == nil, let user { throw RoomFault.sameUser(user) }
        }
    }

    private func answering(_ body: () throws(RoomFault) -> Void) {
        guard self.context.settings.rooms else {
            return self.notify(.error("there are no rooms here (relay.rooms)", code: "invalid-message"))
        }
        do throws(RoomFault) {
            try body()
        } catch {
            self.notify(.error(error.words, code: error.kind.rawValue))
        }
    }

    /// Shows a room, in one write whatever its size.
    private func showRoom(_ name: String) {
        // JSON has the messages in the same object.
        guard self.form == .plain else {
            return self.write(self.form.message.framed(self.context.rooms.encodedState(of: name)))
        }
        let state = self.context.rooms.state(of: name)
        var lines = ByteBuffer()
        for notice in [.room(state)] + state.messages.map({ LineNotice.roomEvent(.message($0), room: state.name) }) {
            guard let line = self.encoder.notice(notice) else { continue }
            lines.writeImmutableBuffer(self.form.message.framed(line))
        }
        self.write(lines)
    }

    func roomChanged(_ event: RoomEvent, in room: String, _ message: SharedMessage) {
        self.notify(.roomEvent(event, room: room), message)
    }
}
