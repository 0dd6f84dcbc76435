import NIOCore

/// The rooms of a client: those to which it has subscribed or published.
extension WAMPClient: RoomMember {
    /// Returns the room of a topic; `nil` if the topic is no room.
    func room(ofTopic uri: String) throws(WAMPFailure) -> String? {
        guard self.context.settings.rooms, WAMPURI.isValid(uri), WAMPTopic.isRoom(uri) else { return nil }
        guard case .room(let room) = try WAMPTopic(uri, hasRooms: true) else { return nil }
        return room
    }

    func enter(_ room: String) throws(WAMPFailure) {
        do throws(RoomFault) {
            try self.context.rooms.enter(room, self)
        } catch {
            throw WAMPFailure(error)
        }
    }

    /// Takes a publication to a room; returns its number, which is that of the last event.
    func submit(_ payload: WAMPPayload, to room: String) throws(WAMPFailure) -> UInt64 {
        do throws(RoomFault) {
            let submission = try RoomSubmission(payload)
            let number = try self.context.rooms.submit(submission, by: self, in: room)
            return self.fanout.publication(of: .message(number ?? self.context.numbers.next()))
        } catch {
            throw WAMPFailure(error)
        }
    }

    /// Sends an event to the session's subscription to the room, if it has one.
    func roomChanged(_ event: RoomEvent, in room: String, _ message: SharedMessage) {
        let topic = WAMPTopic.room(room)
        let pattern = WAMPPattern(text: topic.uri, match: .exact)
        guard let id = self.fanout.router.broker.id(of: pattern), self.subscriptions[id] != nil else { return }
        self.deliver(self.frame(topic, to: id, message) { _ in event.object })
    }
}

extension WAMPTopic {
    /// Returns whether a URI is below the topics of rooms.
    static func isRoom(_ uri: String) -> Bool { WAMPURI.components(uri).starts(with: Self.rooms) }
}

extension WAMPFailure {
    /// The failure for a room's fault: its kind as a URI of this program's errors.
    init(_ fault: RoomFault) {
        let name = fault.kind.rawValue.replacing("-", with: "_")
        self.init(uri: "tickertape.error.\(name)", payload: WAMPPayload(arguments: [.text(fault.words)]))
    }
}

extension RoomSubmission {
    /// Reads a publication: named arguments, or one argument that is a dictionary of them.
    ///
    /// - Throws: ``RoomFault``.
    init(_ payload: WAMPPayload) throws(RoomFault) {
        let object = payload.arguments?.first?.dictionary
        func text(_ key: String) -> String? {
            guard let value = payload.keywords?[key] ?? object?[key], value != .null else { return nil }
            // A value of another kind is treated as an empty text, which is refused by name.
            return value.text ?? ""
        }
        try self.init(message: text("message"), user: text("user"))
    }
}
