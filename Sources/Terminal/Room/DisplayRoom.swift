import Market
package import Wire

/// What the screen knows of a room: its connection, its newest messages and its users.
///
/// A value without a clock. It has only what the relay says; a submission changes nothing until the relay answers.
package struct DisplayRoom: Sendable, Equatable {
    enum Link: Sendable, Equatable {
        case connecting
        case open
        /// There is no connection, for this reason, and attempts go on.
        case lost(String)
    }

    /// A message, or a line about a user who came or went. The texts are printable and bounded.
    struct Entry: Sendable, Equatable {
        /// Wall clock, ns since 1970.
        var time: Int64
        /// The user who wrote the message; `nil` for a line about a user.
        var user: String?
        var text: String
    }

    /// The outcome of a submission.
    struct Outcome: Sendable, Equatable {
        var number: Int
        var isRefused: Bool
    }

    /// The most entries and users that are kept, whatever the relay sends.
    static let capacity = RoomMessage.keptMessages
    static let mostUsers = 1_024
    /// The longest message and the longest name, in Unicode scalars.
    static let longestText = 1_000
    static let longestName = 64

    let name: String
    private(set) var link = Link.connecting
    /// The oldest first.
    private(set) var entries: [Entry] = []
    /// In the order in which they have joined.
    private(set) var users: [RoomUser] = []
    /// The user that the person is, since the relay has accepted the name.
    private(set) var own: RoomUser?
    /// Why the relay refused the newest submission, or why it was not sent.
    private(set) var problem: String?
    /// The outcome of the newest submission that has one.
    private(set) var outcome: Outcome?
    /// The submission that waits for its outcome.
    private var pending: Int?
    /// The name that the person took or asked for.
    private var wanted: String?

    package init(name: String) { self.name = name }

    /// Takes the loss of the connection, or a failed attempt.
    package mutating func lost(_ reason: String) {
        self.link = .lost(reason)
        self.users = []
        self.own = nil
        if self.pending != nil { self.settle("the connection was lost before the relay answered") }
    }

    /// Takes what the person submits; returns whether to send it.
    package mutating func submitted(_ request: RoomRequest, number: Int) -> Bool {
        self.pending = number
        guard self.link == .open else {
            self.settle("not sent: there is no connection to the room")
            return false
        }
        self.problem = nil
        if case .name(let name) = request { self.wanted = name }
        return true
    }

    /// Takes a message of the relay; returns what to submit in return: on a new connection, the name again.
    package mutating func take(_ update: RoomUpdate) -> RoomRequest? {
        switch update {
        case .room(let users, let messages):
            self.link = .open
            self.own = nil
            self.users = users.prefix(Self.mostUsers).map(Self.printable)
            self.entries = messages.suffix(Self.capacity).map(Self.entry)
            return self.wanted.map { .name($0) }
        case .message(let message):
            self.add(Self.entry(message))
            if let own, message.userID == own.id { self.settle(nil) }
        case .joined(let user, let time):
            let shown = Self.printable(user)
            if self.users.count < Self.mostUsers { self.users.append(shown) }
            self.add(Entry(time: time, text: "\(shown.name) has joined"))
            // A name is unique in its room.
            if self.own == nil, user.name == self.wanted {
                self.own = shown
                self.settle(nil)
            }
        case .left(let user, let time):
            self.users.removeAll { $0.id == user.id }
            self.add(Entry(time: time, text: "\(Self.printable(user).name) has left"))
            if self.own?.id == user.id { self.own = nil }
        case .error(let text, let code):
            // Another user may have taken the wanted name just before.
            if code == "user-taken" { self.own = nil }
            if self.own == nil { self.wanted = nil }
            self.settle(PrintableText.line(text, limit: Self.longestText))
        }
        return nil
    }

    /// Ends the wait for the outcome of a submission, if one waits.
    private mutating func settle(_ problem: String?) {
        if let pending { self.outcome = Outcome(number: pending, isRefused: problem != nil) }
        // An earlier problem stays while nothing new is submitted.
        if self.pending != nil || problem != nil { self.problem = problem }
        self.pending = nil
    }

    private mutating func add(_ entry: Entry) {
        self.entries.append(entry)
        if self.entries.count > Self.capacity { self.entries.removeFirst() }
    }

    private static func entry(_ message: RoomMessage) -> Entry {
        Entry(
            time: message.time,
            user: PrintableText.line(message.user, limit: Self.longestName),
            text: PrintableText.line(message.text, limit: Self.longestText)
        )
    }

    private static func printable(_ user: RoomUser) -> RoomUser {
        RoomUser(name: PrintableText.line(user.name, limit: Self.longestName), id: user.id)
    }
}
