import Market
import TickertapeTesting
@testable import Terminal

/// A user at a screen with three symbols.
struct PersonAtScreen {
    var controller: ScreenController
    var state: DisplayState
    var now = sampleNoon

    init(
        _ symbols: [String] = ["X:A", "X:B", "X:C"],
        remote: DisplayRemote = .sample { $0.replay = .cannot("this is not a replay") },
        bindings: KeyBindings = KeyBindings()
    ) {
        self.controller = ScreenController(bindings: bindings, remote: remote)
        self.state = DisplayState(rows: symbols.map { sampleRow(sampleSummary($0)) }, status: sampleStatus())
    }

    @discardableResult
    mutating func presses(_ keys: TerminalKey...) -> [ScreenCommand] {
        keys.flatMap { self.controller.took(.key($0), state: self.state, now: self.now) }
    }

    @discardableResult
    mutating func types(_ text: String) -> [ScreenCommand] {
        text.unicodeScalars.flatMap {
            self.controller.took(.key(.character(Character($0))), state: self.state, now: self.now)
        }
    }

    @discardableResult
    mutating func receives(_ answer: ScreenAnswer) -> [ScreenCommand] {
        self.controller.received(answer, state: self.state, now: self.now)
    }

    var choice: DisplayChoice { self.controller.choice }
    var prompt: DisplayPrompt? { if case .prompt(let prompt) = self.choice.pane { prompt } else { nil } }
    /// The text in the screen's notice line.
    var said: String? { self.shown.notice?.text }

    /// The drawn state.
    var shown: DisplayState { self.controller.shown(self.state, now: self.now.monotonic) }

    static let replaying = ReplayPosition(
        start: sampleNoon.wall - 600 * oneSecond,
        end: sampleNoon.wall + 600 * oneSecond,
        at: sampleNoon.wall,
        speed: 1
    )
}

extension DisplayRemote {
    /// Returns a remote that can do everything, except what `change` removes.
    static func sample(_ change: (inout DisplayRemote) -> Void = { _ in }) -> DisplayRemote {
        var remote = DisplayRemote(without: "")
        remote.subscribe = .can { _ in nil }
        remote.unsubscribe = .can { _ in nil }
        remote.reconnect = .can { nil }
        remote.search = .can { _ in Found([]) }
        remote.news = .can { .notAsked }
        remote.setAlert = .can { _ in nil }
        remote.removeAlert = .can { _, _ in nil }
        remote.replay = .can { _ in nil }
        change(&remote)
        return remote
    }
}
