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

    /// A request that waits for the relay's answer.
    private enum Pending: Equatable {
        case submission(Int)
        /// The name, asked for again on a new connection.
        case sameName
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
    /// How many entries were added, apart from those of the room's state; some may be gone again.
    private(set) var added = 0
    /// In the order in which they have joined.
    private(set) var users: [RoomUser] = []
    /// The user that the person is, since the relay has accepted the name.
    private(set) var own: RoomUser?
    /// Why the relay refused the newest submission, or why it was not sent.
    private(set) var problem: String?
    /// The outcome of the newest submission that has one.
    private(set) var outcome: Outcome?
    /// The only request under way: an answer does not say to which one it belongs.
    private var pending: Pending?
    /// The name that the person took or asked for.
    private var wanted: String?

    package init(name: String) { self.name = name }

    /// Takes the loss of the connection, or a failed attempt.
    package mutating func lost(_ reason: String) {
        self.link = .lost(reason)
        self.users = []
        self.own = nil
        if case .submission = self.pending { self.settle("the connection was lost before the relay answered") }
        self.pending = nil
    }

    /// Takes what the person submits; returns whether to send it.
    package mutating func submitted(_ request: RoomRequest, number: Int) -> Bool {
        guard self.link == .open else {
            return self.refuse(number, "not sent: there is no connection to the room")
        }
        guard self.pending == nil else {
            return self.refuse(number, "not sent: the relay has not answered the line before yet")
        }
        self.pending = .submission(number)
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
            guard let wanted else { return nil }
            if self.pending == nil { self.pending = .sameName }
            return .name(wanted)
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

    /// Reports that a submission is not sent.
    private mutating func refuse(_ number: Int, _ problem: String) -> Bool {
        self.outcome = Outcome(number: number, isRefused: true)
        self.problem = problem
        return false
    }

    /// Ends the wait for an answer, if a request waits.
    private mutating func settle(_ problem: String?) {
        // An earlier problem stays while nothing new is submitted.
        if let problem { self.problem = problem }
        if case .submission(let number) = self.pending {
            self.problem = problem
            // A later submission may have been refused meanwhile.
            if number > self.outcome?.number ?? .min {
                self.outcome = Outcome(number: number, isRefused: problem != nil)
            }
        }
        self.pending = nil
    }

    private mutating func add(_ entry: Entry) {
        self.added += 1
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
