import NIOCore

/// The requests without an answer. A value; time is an argument.
struct RequestTable: Sendable {
    private struct Request: Sendable {
        var subject: NATSSubject
        var until: NIODeadline
    }

    private var requests: [UInt64: Request] = [:]

    var count: Int { self.requests.count }

    var isEmpty: Bool { self.requests.isEmpty }

    /// The time at which the next one has no answer in time.
    var deadline: NIODeadline? { self.requests.values.map(\.until).min() }

    mutating func add(_ number: UInt64, to subject: NATSSubject, until: NIODeadline) {
        self.requests[number] = Request(subject: subject, until: until)
    }

    /// Takes the request that an answer belongs to; `false` if it has ended.
    mutating func answered(_ number: UInt64) -> Bool { self.requests.removeValue(forKey: number) != nil }

    /// Takes the requests whose time is over.
    mutating func expired(at now: NIODeadline) -> [UInt64] { self.take { $0.until <= now } }

    /// Takes the requests to a subject.
    mutating func refused(on subject: String) -> [UInt64] { self.take { $0.subject.text == subject } }

    /// Takes all requests.
    mutating func lost() -> [UInt64] { self.take { _ in true } }

    private mutating func take(_ isTaken: (Request) -> Bool) -> [UInt64] {
        let numbers = self.requests.filter { isTaken($0.value) }.keys.sorted()
        for number in numbers { self.requests[number] = nil }
        return numbers
    }
}
