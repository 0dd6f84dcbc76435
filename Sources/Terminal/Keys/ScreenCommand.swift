package import Market

/// What the person at the screen wants of the rest of the program.
enum ScreenCommand: Sendable, Equatable {
    case quit
    /// Stop the job, as Ctrl-Z does.
    case suspend
    /// End with a core dump, as Ctrl-\ does.
    case abort
    /// Draw everything anew.
    case redraw
    /// Answered by ``ScreenAnswer/subscribed(_:problem:)`` and so on.
    case subscribe(String)
    case unsubscribe(String)
    case reconnect
    /// The symbols that fit a text. Each search has a number; only the answer to the newest counts.
    case search(String, number: Int)
    case news
    case setAlert(String)
    /// The alert at a place of ``DisplayState/alerts``, with its text, for the list may have changed meanwhile.
    case removeAlert(Int, text: String)
    case replay(ReplayRequest)
}

/// What became of a wish.
enum ScreenAnswer: Sendable, Equatable {
    /// `problem`: one line that says why not, with the cure; `nil` where it was done.
    case subscribed(String, problem: String?)
    case unsubscribed(String, problem: String?)
    case reconnecting(problem: String?)
    case found([DisplayPrompt.Suggestion], number: Int, problem: String?)
    case news(DisplayNews)
    case alertSet(String, problem: String?)
    case alertRemoved(String, problem: String?)
    case replay(problem: String?)
}

/// A thing that the rest of the program can do for the screen, or why it cannot.
package enum ScreenAbility<Doing: Sendable>: Sendable {
    case can(Doing)
    /// One line with the cure: `this is not a replay`.
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

/// What the screen can have done in the rest of the program.
///
/// Each closure may be called at any time and any number of times, one call at a time of each kind but for `search`, where
/// a newer one may begin before the older one has answered. What takes a text answers with one line that says why not, or
/// `nil` where it was done.
package struct DisplayRemote: Sendable {
    package typealias Ask = @Sendable () async -> String?
    package typealias AskWithText = @Sendable (String) async -> String?

    /// Symbols that fit a text, the best first, or what keeps them from being known.
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
    package var search: ScreenAbility<@Sendable (String) async -> Found>
    package var news: ScreenAbility<@Sendable () async -> DisplayNews>
    package var setAlert: ScreenAbility<AskWithText>
    /// Judges the text of an alert without setting it: why it is none, or `nil`. Called while somebody waits for the screen.
    package var checkAlert: @Sendable (String) -> String? = { _ in nil }
    /// Why an alert that is set by key is lost at the end of the program, in one line with the cure; `nil` where it is kept.
    package var alertsAreLost: @Sendable () -> String? = { nil }
    package var removeAlert: ScreenAbility<@Sendable (Int, _ text: String) async -> String?>
    package var replay: ScreenAbility<@Sendable (ReplayRequest) async -> String?>

    /// A screen that can only be looked at.
    package init(without reason: String) {
        self.subscribe = .cannot(reason)
        self.unsubscribe = .cannot(reason)
        self.reconnect = .cannot(reason)
        self.search = .cannot(reason)
        self.news = .cannot(reason)
        self.setAlert = .cannot(reason)
        self.removeAlert = .cannot(reason)
        self.replay = .cannot(reason)
    }

    /// Does what a wish asks for, and says what became of it; `nil` for a wish that the screen fulfils by itself, and for one
    /// that cannot be fulfilled.
    func answer(to command: ScreenCommand) async -> ScreenAnswer? {
        switch command {
        case .quit, .suspend, .abort, .redraw: break
        case .subscribe(let symbol):
            if let ask = self.subscribe.doing { return .subscribed(symbol, problem: await ask(symbol)) }
        case .unsubscribe(let symbol):
            if let ask = self.unsubscribe.doing { return .unsubscribed(symbol, problem: await ask(symbol)) }
        case .reconnect:
            if let ask = self.reconnect.doing { return .reconnecting(problem: await ask()) }
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
