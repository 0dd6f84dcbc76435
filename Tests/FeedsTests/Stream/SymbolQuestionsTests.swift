import Market
import Testing
import Wire
@testable import Feeds

@Suite("The relay's answer to a subscription")
struct SymbolQuestionsTests {
    private static let second: Int64 = 1_000_000_000
    private static let pong = StreamMessage.unknown(type: "pong")

    private func refused(_ symbol: String) -> StreamMessage {
        .symbol(
            SymbolStatus(
                symbol: symbol,
                state: .refused(.noSuchSymbol, retryAt: 0),
                since: 0,
                reason: "Invalid symbol \(symbol)"
            )
        )
    }

    @Test("a refusal before or after the pong is an answer, whether it is an error or a state")
    func refusals() {
        var questions = SymbolQuestions()
        #expect(questions.asked("X:A", now: 0) == 1)
        #expect(questions.asked("X:B", now: 1) == 2)
        #expect(
            questions.received(.error("Subscribing to too many symbols: X:B"), now: 2) == [
                SymbolQuestions.Answer(number: 2, problem: "Subscribing to too many symbols: X:B")
            ]
        )
        #expect(questions.received(Self.pong, now: 3) == [])
        #expect(questions.received(.symbol(SymbolStatus(symbol: "X:A", state: .asked, since: 0)), now: 4) == [])
        #expect(questions.received(self.refused("X:C"), now: 4) == [])
        #expect(
            questions.received(self.refused("X:A"), now: 5) == [
                SymbolQuestions.Answer(number: 1, problem: "Invalid symbol X:A")
            ]
        )
        #expect(questions.deadline == nil)
    }

    @Test("an error that names no symbol concerns the request before the pong, and none after it")
    func unnamed() {
        var questions = SymbolQuestions()
        _ = questions.asked("X:A", now: 0)
        _ = questions.received(Self.pong, now: 0)
        #expect(questions.received(.error("Too many requests; slow down"), now: 1) == [])
        _ = questions.asked("X:B", now: 2)
        #expect(questions.received(.error("Too many requests; slow down"), now: 3).map(\.number) == [2])
    }

    @Test("a price accepts the symbol, and so do a second of silence after the pong, and a lost link")
    func yes() throws {
        var questions = SymbolQuestions()
        for symbol in ["X:A", "X:B", "X:C"] { _ = questions.asked(symbol, now: 0) }
        #expect(questions.deadline == SymbolQuestions.patience)
        #expect(
            questions.received(.symbol(SymbolStatus(symbol: "X:B", state: .live, since: 0)), now: 1) == [
                SymbolQuestions.Answer(number: 2, problem: nil)
            ]
        )
        _ = questions.received(Self.pong, now: Self.second)
        #expect(questions.deadline == Self.second + SymbolQuestions.grace)
        #expect(questions.waited(now: 2 * Self.second - 1) == [])
        #expect(questions.waited(now: 2 * Self.second) == [SymbolQuestions.Answer(number: 1, problem: nil)])
        #expect(questions.lost() == [SymbolQuestions.Answer(number: 3, problem: nil)])
        #expect(questions.deadline == nil && questions.lost() == [])
    }
}
