import NIOCore

/// The requests without an answer. A value; time is an argument.
struct RequestTable: Sendable {
    private struct Request: Sendable {
        var subject: NATSSubject
        var token: String
        var until: NIODeadline
    }

    private var requests: [UInt64: Request] = [:]
    private var numbers: [String: UInt64] = [:]
    /// The time at which the next one has no answer in time, or an earlier time.
    private(set) var deadline: NIODeadline?

    var count: Int { self.requests.count }

    var isEmpty: Bool { self.requests.isEmpty }

    /// - Parameter token: the last token of the subject of its answer.
    mutating func add(_ number: UInt64, token: String, to subject: NATSSubject, until: NIODeadline) {
        precondition(self.numbers[token] == nil, "a token is of one request")
        self.requests[number] = Request(subject: subject, token: token, until: until)
        self.numbers[token] = number
        self.deadline = self.deadline.map { min($0, until) } ?? until
    }

    /// Takes the request that an answer belongs to; `nil` if it has ended.
    mutating func answered(_ token: String) -> UInt64? {
        guard let number = self.numbers[token] else { return nil }
        self.remove(number)
        return number
    }

    /// Takes the requests whose time is over.
    mutating func expired(at now: NIODeadline) -> [UInt64] {
        guard let deadline = self.deadline, deadline <= now else { return [] }
        let numbers = self.requests.filter { $0.value.until <= now }.keys.sorted()
        numbers.forEach { self.remove($0) }
        self.deadline = self.requests.values.map(\.until).min()
        return numbers
    }

    /// Takes the oldest request to a subject.
    mutating func refused(on subject: String) -> UInt64? {
        let number = self.requests.filter { $0.value.subject.text == subject }.keys.min()
        if let number { self.remove(number) }
        return number
    }

    /// Takes all requests.
    mutating func lost() -> [UInt64] {
        let numbers = self.requests.keys.sorted()
        self = RequestTable()
        return numbers
    }

    private mutating func remove(_ number: UInt64) {
        if let request = self.requests.removeValue(forKey: number) { self.numbers[request.token] = nil }
        if self.requests.isEmpty { self.deadline = nil }
    }
}
