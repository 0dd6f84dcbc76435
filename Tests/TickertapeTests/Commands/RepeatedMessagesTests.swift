import Logging
import Testing
@testable import Tickertape

@Suite("Repeated messages of the log")
struct RepeatedMessagesTests {
    private static let second: Int64 = 1_000_000_000
    private static let minute: Int64 = 60_000_000_000

    private func key(_ message: String, _ part: LogPart = .feed) -> RepeatedMessages.Key {
        RepeatedMessages.Key(part: part, level: .warning, message: message)
    }

    @Test("more than the allowed ones in a minute are left out, and the count is due when the minute ends")
    func counts() {
        var messages = RepeatedMessages(most: 3)
        let written = (0..<10).filter { messages.isWanted(self.key("gap"), now: Self.second * Int64($0)) }
        #expect(written == [0, 1, 2])
        #expect(messages.deadline == Self.minute)
        let early = messages.takeEnded(now: Self.minute - 1)
        let ended = messages.takeEnded(now: Self.minute)
        #expect(early.isEmpty && ended == [.init(key: self.key("gap"), number: 7)])
        #expect(messages.deadline == nil)
        // The next minute begins with its first message.
        let later = Self.minute + 5 * Self.second
        let next = (0..<4).map { messages.isWanted(self.key("gap"), now: later + Int64($0)) }
        #expect(next == [true, true, true, false])
        #expect(messages.deadline == later + Self.minute)
    }

    @Test("parts, levels and messages are counted by themselves")
    func keys() {
        var messages = RepeatedMessages(most: 1)
        var error = self.key("a")
        error.level = .error
        let keys = [self.key("a"), self.key("b"), self.key("a", .relay), error]
        let first = keys.map { messages.isWanted($0, now: 0) }
        let later = (keys + [keys[1]]).map { messages.isWanted($0, now: 1) }
        #expect(!first.contains(false) && !later.contains(true))
        let counts = messages.takeAll()
        #expect(counts.count == 4 && counts.first { $0.key == keys[1] }?.number == 2)
        let rest = messages.takeAll()
        #expect(rest.isEmpty)
    }

    @Test("nothing is said of messages that were all written")
    func allWritten() {
        var messages = RepeatedMessages(most: 2)
        let written = (0..<2).map { messages.isWanted(self.key("a"), now: Int64($0)) }
        #expect(written == [true, true] && messages.deadline == nil)
        let ended = messages.takeEnded(now: Self.minute)
        #expect(ended.isEmpty)
    }

    @Test("every message is either written or counted, whatever their number, and the memory is bounded")
    func bounds() {
        var messages = RepeatedMessages(most: 2)
        var written = 0
        var counted = 0
        var most = 0
        let all = 20_000
        for number in 0..<all {
            // A thousand different messages, each several times a minute.
            let now = Int64(number) * 10_000_000
            if messages.isWanted(self.key("message \(number % 1_000)"), now: now) { written += 1 }
            if number % 100 == 0 { counted += messages.takeEnded(now: now).reduce(0) { $0 + $1.number } }
            most = max(most, messages.keyCount)
        }
        counted += messages.takeAll().reduce(0) { $0 + $1.number }
        #expect(written + counted == all && written < all / 2)
        #expect(most > 200 && most <= RepeatedMessages.maximumKeys + 1)
    }

    @Test("the message of a count says which was left out")
    func record() {
        let record = LogRecord(.init(key: self.key("The feed has a gap"), number: 980), time: 0)
        #expect(
            record.textLine
                == "1970-01-01T00:00:00.000Z warning feed: Repeated messages were left out count=980 "
                + "message=\"The feed has a gap\"\n"
        )
        #expect(LogRecord(.init(key: self.key(""), number: 1), time: 0).words.hasSuffix("message=various"))
    }
}
