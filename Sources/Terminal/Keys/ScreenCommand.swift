package import Market
import Wire

/// A command of the screen's user to the rest of the program.
enum ScreenCommand: Sendable, Equatable {
    case quit
    /// Stops the job, as Ctrl-Z does.
    case suspend
    /// Ends the program with a core dump, as Ctrl-\ does.
    case abort
    /// Redraws the whole screen.
    case redraw
    /// Makes the terminal report the mouse, or leave it alone.
    case takeMouse(Bool)
    /// This command and the following ones are answered by ``ScreenAnswer/subscribed(_:problem:)`` and its siblings.
    case subscribe(String)
    case unsubscribe(String)
    case reconnect
    /// Leaves the demo for the live market.
    case live
    /// Searches the symbols that match a text. Each search has a number, and only the answer to the newest is used.
    case search(String, number: Int)
    case news
    case enterRoom(String)
    /// Leaves the room that was entered.
    case leaveRoom
    /// Submits to that room. Each submission has a number, by which its outcome is known.
    case submit(RoomRequest, number: Int)
    case setAlert(String)
    /// Removes the alert at this index of ``DisplayState/alerts``. Its text identifies it if the list has changed
    /// meanwhile.
    case removeAlert(Int, text: String)
    case replay(ReplayRequest)
}

/// The result of a command.
enum ScreenAnswer: Sendable, Equatable {
    /// `problem` is the reason for a failure with a hint, in one line; `nil` after a success.
    case subscribed(String, problem: String?)
    case unsubscribed(String, problem: String?)
    case reconnecting(problem: String?)
    /// The way to the live market has begun, or is under way (the text says how far).
    case live(String?)
    case found([DisplayPrompt.Suggestion], number: Int, problem: String?)
    case news(DisplayNews)
    /// The entered room has changed.
    case room(DisplayRoom)
    case alertSet(String, problem: String?)
    case alertRemoved(String, problem: String?)
    case replay(problem: String?)
}

/// An action of the rest of the program, or the reason why it is unavailable.
package enum ScreenAbility<Doing: Sendable>: Sendable {
    case can(Doing)
    /// The reason in one line: `this is not a replay`.
    case cannot(String)

    var doing: Doing? {
        switch self {
        case .can(let doing): doing
        case .cannot: nil
        }
    }

    var obstacle: String? {
        switch self {
        case .can: nil
        case .cannot(let reason): reason
        }
    }
}

/// The actions of the rest of the program that the screen can start.
///
/// Each closure may be called any number of times, with one call of a kind at a time. Only a newer `search` may start
/// before the older one has returned. A closure that takes a text returns `nil`, or the reason for a failure in one
/// line.
package struct DisplayRemote: Sendable {
    package typealias Ask = @Sendable () async -> String?
    package typealias AskWithText = @Sendable (String) async -> String?

    /// The symbols that match a text, best match first, or the reason why they are unknown.
    package struct Found: Sendable, Equatable {
        package var suggestions: [DisplayPrompt.Suggestion]
        package var problem: String?

        package init(_ suggestions: [DisplayPrompt.Suggestion], problem: String? = nil) {
            self.suggestions = suggestions
            self.problem = problem
        }
    }

    package var subscribe: ScreenAbility<AskWithText>
    package var unsubscribe: ScreenAbility<AskWithText>
    package var reconnect: ScreenAbility<Ask>
    /// Connects to the live market, while a demo goes on.
    package var live: ScreenAbility<Ask>
    package var search: ScreenAbility<@Sendable (String) async -> Found>
    package var news: ScreenAbility<@Sendable () async -> DisplayNews>
    package var rooms: ScreenAbility<any ScreenRooms>
    package var setAlert: ScreenAbility<AskWithText>
    /// Validates the text of an alert without setting it; returns `nil` or the fault. Must not block, since it runs on
    /// the drawing thread.
    package var checkAlert: @Sendable (String) -> String? = { _ in nil }
    /// The reason why an alert that is set by key is lost at the program's end, in one line with a hint; `nil` if it is
    /// stored.
    package var alertsAreLost: @Sendable () -> String? = { nil }
    /// Notes the symbol that was selected or opened. Must not block.
    package var symbolChosen: @Sendable (String) -> Void = { _ in }
    package var removeAlert: ScreenAbility<@Sendable (Int, _ text: String) async -> String?>
    package var replay: ScreenAbility<@Sendable (ReplayRequest) async -> String?>

    /// Makes the remote of a read-only screen, on which every action is unavailable for this reason.
    package init(without reason: String) {
        self.subscribe = .cannot(reason)
        self.unsubscribe = .cannot(reason)
        self.reconnect = .cannot(reason)
        self.live = .cannot(reason)
        self.search = .cannot(reason)
        self.news = .cannot(reason)
        self.rooms = .cannot(reason)
        self.setAlert = .cannot(reason)
        self.removeAlert = .cannot(reason)
        self.replay = .cannot(reason)
    }

    /// Executes a command and returns its result; `nil` for a command of the screen or for its room, and for an
    /// unavailable one.
    func answer(to command: ScreenCommand) async -> ScreenAnswer? {
        switch command {
        case .quit, .suspend, .abort, .redraw, .takeMouse, .enterRoom, .leaveRoom, .submit: break
        case .subscribe(let symbol):
            if let ask = self.subscribe.doing { return .subscribed(symbol, problem: await ask(symbol)) }
        case .unsubscribe(let symbol):
            if let ask = self.unsubscribe.doing { return .unsubscribed(symbol, problem: await ask(symbol)) }
        case .reconnect:
            if let ask = self.reconnect.doing { return .reconnecting(problem: await ask()) }
        case .live:
            if let ask = self.live.doing { return .live(await ask()) }
        case .search(let text, let number):
            guard let found = await self.search.doing?(text) else { break }
            return .found(found.suggestions, number: number, problem: found.problem)
        case .news:
            if let ask = self.news.doing { return .news(await ask()) }
        case .setAlert(let text):
            if let ask = self.setAlert.doing { return .alertSet(text, problem: await ask(text)) }
        case .removeAlert(let place, let text):
            if let ask = self.removeAlert.doing { return .alertRemoved(text, problem: await ask(place, text)) }
        case .replay(let request):
            if let ask = self.replay.doing { return .replay(problem: await ask(request)) }
        }
        return nil
    }
}
