import Market
import Wire

/// The subscriptions whose callers wait for the relay's answer.
///
/// The relay answers a subscription with an error, with a state or with a price. If all is well and no price is known
/// yet, it sends none of these. So a ping follows the subscription: whatever the relay answers at once precedes the
/// pong.
struct SymbolQuestions {
    /// The limit for the relay's answer to the ping, and the time after it in which its upstream may refuse the
    /// symbol, ns.
    static let patience: Int64 = 5_000_000_000
    static let grace: Int64 = 1_000_000_000

    /// The answer to a question; `problem` is one line, or `nil` if the relay accepted the symbol.
    struct Answer: Equatable {
        var number: Int
        var problem: String?
    }

    private struct Question {
        var number: Int
        var symbol: String
        /// When the wait for an answer ends; monotonic ns.
        var until: Int64
        /// Whether the relay has answered the ping.
        var isTaken = false
    }

    private var questions: [Question] = []
    private var count = 0

    /// When the wait for the next answer ends; monotonic ns.
    var deadline: Int64? { self.questions.map(\.until).min() }

    /// Takes a question; returns its number.
    mutating func asked(_ symbol: String, now: Int64) -> Int {
        self.count += 1
        self.questions.append(Question(number: self.count, symbol: symbol, until: now + Self.patience))
        return self.count
    }

    /// Takes a message of the relay.
    mutating func received(_ message: StreamMessage, now: Int64) -> [Answer] {
        guard !self.questions.isEmpty else { return [] }
        switch message {
        case .error(let text):
            // Most errors name the symbol. One without a name (too many requests) concerns the request before the pong.
            if let index = self.questions.firstIndex(where: { text.contains($0.symbol) }) {
                return self.answer(at: index, text)
            }
            return self.questions.firstIndex { !$0.isTaken }.map { self.answer(at: $0, text) } ?? []
        case .symbol(let status):
            switch status.state {
            case .asked: return []
            case .live, .quiet: return self.answer(status.symbol, nil)
            case .refused: return self.answer(status.symbol, status.reason ?? "\(status.symbol): \(status.word)")
            }
        case .snapshot(let update, _), .price(let update): return self.answer(update.summary.symbol, nil)
        case .unknown(type: "pong"):
            if let index = self.questions.firstIndex(where: { !$0.isTaken }) {
                self.questions[index].isTaken = true
                self.questions[index].until = now + Self.grace
            }
            return []
        case .hello, .trades, .trade, .status, .released, .replay, .gap, .settled, .venueDay, .resumed, .unknown,
            .malformed:
            return []
        }
    }

    /// Takes the passing of time. A symbol that was not refused within its limit counts as accepted.
    mutating func waited(now: Int64) -> [Answer] {
        let over = self.questions.filter { $0.until <= now }
        self.questions.removeAll { $0.until <= now }
        return over.map { Answer(number: $0.number, problem: nil) }
    }

    /// Notes that the link is lost. The subscriptions are repeated on the next one, so all questions end without a
    /// problem.
    mutating func lost() -> [Answer] { self.waited(now: .max) }

    private mutating func answer(_ symbol: String, _ problem: String?) -> [Answer] {
        self.questions.firstIndex { $0.symbol == symbol }.map { self.answer(at: $0, problem) } ?? []
    }

    private mutating func answer(at index: Int, _ problem: String?) -> [Answer] {
        [Answer(number: self.questions.remove(at: index).number, problem: problem)]
    }
}
