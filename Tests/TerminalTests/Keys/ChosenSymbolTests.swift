import NIOConcurrencyHelpers
import Testing
@testable import Terminal

@Suite("The symbol that is chosen on the screen")
struct ChosenSymbolTests {
    @Test("is told once, when it is selected or opened")
    func told() {
        let told = NIOLockedValueBox<[String]>([])
        var person = PersonAtScreen(
            remote: .sample { remote in
                remote.replay = .cannot("this is not a replay")
                remote.symbolChosen = { symbol in told.withLockedValue { $0.append(symbol) } }
            }
        )
        person.presses(.named(.down))
        person.presses(.named(.enter))
        #expect(told.withLockedValue { $0 } == ["X:B"])
        person.presses(.named(.down), .named(.down), .named(.down))
        #expect(told.withLockedValue { $0 } == ["X:B", "X:C"])
    }
}
