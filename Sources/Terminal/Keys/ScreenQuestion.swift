import Market

/// The purpose of a prompt, and the state of its submission and search.
struct ScreenQuestion: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case symbol
        /// A part of the name of a symbol that is on the screen.
        case find
        case alert
        /// A position in a replay.
        case place
        /// The person's name in the open room.
        case userName
        /// A message to it.
        case message

        /// Whether the line belongs to the open room.
        var isOfRoom: Bool { self == .userName || self == .message }

        var title: String {
            switch self {
            case .symbol: "add a symbol"
            case .find: "find"
            case .alert: "set an alert"
            case .place: "go to"
            case .userName: "your name"
            case .message: "message"
            }
        }

        var hint: String {
            switch self {
            case .symbol: "type a name; Enter adds it"
            case .find: "type a part of the name; Enter selects it, Esc goes back"
            case .alert: "such as BINANCE:BTCUSDT above 60000"
            case .place: TypedPlace.usage
            case .userName: "everybody in the room sees it; Enter takes it"
            case .message: "Enter sends, Esc goes back"
            }
        }
    }

    var kind: Kind
    /// The selected and the open symbol before the search.
    var before: (selected: String?, opened: String?)?
    /// The text that was submitted and is not answered yet.
    var given: String?
    /// What was submitted to the room and is not answered yet, with its number.
    var sent: (text: String, number: Int)?
    /// Whether the current text was submitted and refused.
    var isRefused = false
    /// The running search: its text, its number, and its start (monotonic ns).
    var search: (text: String, number: Int, since: Int64)?
    /// The text whose suggestions are shown.
    var searched: String?

    static func == (left: ScreenQuestion, right: ScreenQuestion) -> Bool {
        left.kind == right.kind && left.given == right.given && left.searched == right.searched
            && left.search?.number == right.search?.number && left.sent?.number == right.sent?.number
    }
}

// The prompts.
extension ScreenController {
    /// The largest number of characters and of bytes in a line.
    static let longestLine = 128
    static let longestLineBytes = 512
    /// The same for a message to a room, whose relay says what is too long for it.
    static let longestMessage = 1_024
    /// The largest number of suggestions.
    static let maximumSuggestions = 50
    /// The time limit of a search, ns.
    static let searchPatience: Int64 = 5_000_000_000

    mutating func ask(_ kind: ScreenQuestion.Kind, prefilled: String, now: Moment) -> [ScreenCommand] {
        let obstacle: String? =
            switch kind {
            case .symbol: self.remote.subscribe.obstacle
            case .find: nil
            case .alert: self.remote.setAlert.obstacle
            case .place: self.remote.replay.obstacle
            case .userName, .message: self.remote.rooms.obstacle
            }
        if let obstacle { return self.say(obstacle, now) }
        self.question = ScreenQuestion(kind: kind)
        var hint = kind.hint
        if kind == .symbol, let obstacle = self.remote.search.obstacle { hint = obstacle }
        var prompt = DisplayPrompt(title: kind.title, text: prefilled, message: hint)
        prompt.room = kind.isOfRoom ? self.choice.room : nil
        prompt.narrows = kind == .find
        self.choice.pane = .prompt(prompt)
        return []
    }

    private func withPrompt<Result>(_ body: (DisplayPrompt) -> Result?) -> Result? {
        guard case .prompt(let prompt) = self.choice.pane else { return nil }
        return body(prompt)
    }

    mutating func change(_ body: (inout DisplayPrompt) -> Void) {
        guard case .prompt(var prompt) = self.choice.pane else { return }
        body(&prompt)
        self.choice.pane = .prompt(prompt)
    }

    private mutating func close() {
        self.question = nil
        self.choice.pane = self.choice.room.map { .list(.room($0), at: 0) }
    }

    /// The text of the prompt's line.
    var typedText: String { self.withPrompt { $0.text } ?? "" }

    mutating func replaceText(with text: String) {
        self.change { prompt in
            prompt.text = text
            prompt.caret = text.count
        }
    }

    // MARK: Editing

    /// Handles a key in a prompt.
    mutating func typed(_ key: TerminalKey, state: DisplayState, now: Moment) -> [ScreenCommand] {
        switch key {
        case .named(.escape):
            let before = self.question?.before
            self.close()
            if let before { (self.choice.selected, self.choice.opened) = before }
            return []
        case .named(.enter): return self.given(state, now)
        case .control("l"): return [.redraw]
        case .character(let character): return self.inserted(String(character), now: now)
        case .named(.up): self.choose(by: -1, state, now)
        case .named(.down): self.choose(by: 1, state, now)
        case .named(.pageUp): self.choose(by: -5, state, now)
        case .named(.pageDown): self.choose(by: 5, state, now)
        case .named(.tab): return self.complete(now)
        default:
            let before = self.withPrompt { $0.text }
            self.change { $0.edit(with: key) }
            if self.withPrompt({ $0.text }) != before { return self.textChanged(now) }
        }
        return []
    }

    /// Inserts typed or pasted text; text beyond the limit is dropped.
    mutating func inserted(_ text: String, now: Moment) -> [ScreenCommand] {
        let isMessage = self.question?.kind == .message
        let most = isMessage ? Self.longestMessage : Self.longestLine
        self.change { $0.insert(text, most: most, bytes: isMessage ? most : Self.longestLineBytes) }
        return self.textChanged(now)
    }

    private mutating func textChanged(_ now: Moment) -> [ScreenCommand] {
        self.question?.given = nil
        self.question?.isRefused = false
        guard let question, question.kind == .symbol, self.remote.search.obstacle == nil else {
            self.change { $0.message = nil }
            return []
        }
        return self.search(now)
    }

    // MARK: Suggestions

    /// Searches for the current text. While another search runs, its answer starts the next one.
    private mutating func search(_ now: Moment) -> [ScreenCommand] {
        guard let text = self.withPrompt({ $0.text.trimmedOfBlanks }), self.question?.searched != text else {
            return []
        }
        if text.isEmpty {
            self.question?.searched = ""
            self.question?.search = nil
            self.change { prompt in
                prompt.suggestions = []
                prompt.chosen = nil
                prompt.message = ScreenQuestion.Kind.symbol.hint
            }
            return []
        }
        if let search = self.question?.search, now.monotonic - search.since < Self.searchPatience { return [] }
        self.searches += 1
        self.question?.search = (text, self.searches, now.monotonic)
        return [.search(text, number: self.searches)]
    }

    mutating func found(
        _ suggestions: [DisplayPrompt.Suggestion],
        number: Int,
        problem: String?,
        now: Moment
    ) -> [ScreenCommand] {
        // The answer belongs to a closed prompt or an abandoned search.
        guard let search = self.question?.search, search.number == number else { return [] }
        self.question?.search = nil
        self.question?.searched = search.text
        // A late search must not replace the message about a submission.
        let isAnswered = self.question?.given != nil || self.question?.isRefused == true
        self.change { prompt in
            prompt.suggestions = Array(suggestions.prefix(Self.maximumSuggestions))
            // A full name is submitted as typed. For a partial name the best match is chosen.
            prompt.chosen = prompt.suggestions.isEmpty || search.text.contains(":") ? nil : 0
            guard !isAnswered else { return }
            prompt.message = problem
        }
        return self.search(now)
    }

    /// Moves the mark among the suggestions, or among the symbols that are found.
    mutating func choose(by lines: Int, _ state: DisplayState, _ now: Moment) {
        if self.question?.kind == .find { self.select(by: lines, state: state, now: now) }
        self.change { prompt in
            guard !prompt.suggestions.isEmpty else { return }
            let last = prompt.suggestions.count - 1
            prompt.chosen = prompt.chosen.map { min(max($0 + lines, 0), last) } ?? (lines > 0 ? 0 : last)
        }
    }

    private mutating func complete(_ now: Moment) -> [ScreenCommand] {
        let completion = self.withPrompt { prompt in
            prompt.suggestions.isEmpty ? nil : prompt.suggestions[prompt.chosen ?? 0].text
        }
        guard let completion else { return [] }
        self.change { prompt in
            prompt.text = ""
            prompt.caret = 0
            prompt.insert(completion, most: Self.longestLine, bytes: Self.longestLineBytes)
        }
        return self.textChanged(now)
    }

    // MARK: Enter

    private mutating func given(_ state: DisplayState, _ now: Moment) -> [ScreenCommand] {
        guard let question, let prompt = self.withPrompt({ $0 }) else { return [] }
        let text = prompt.text.trimmedOfBlanks
        // A repeating Enter key submits once.
        guard question.given == nil else { return [] }
        switch question.kind {
        case .symbol:
            let isExact = prompt.suggestions.first { $0.text.lowercased() == text.lowercased() }?.text
            let chosen = prompt.chosen.map { prompt.suggestions[$0].text }
            let symbol = isExact ?? (question.searched == text ? chosen : nil) ?? text
            guard !symbol.isEmpty else {
                self.close()
                return []
            }
            if self.symbols(state, now).contains(symbol) {
                self.close()
                self.choice.selected = symbol
                return self.say("\(symbol) is on the screen already", now)
            }
            self.question?.given = symbol
            self.change { $0.message = "asking for \(symbol)" }
            return [.subscribe(symbol)]
        case .find:
            guard let symbol = self.selected(self.symbols(state, now)) else {
                self.change { $0.message = "no symbol on the screen contains this" }
                return []
            }
            self.found(symbol)
            return []
        case .alert:
            guard !text.isEmpty else {
                self.close()
                return []
            }
            if let problem = self.remote.checkAlert(text) {
                self.change { $0.message = problem }
                return []
            }
            self.question?.given = text
            return [.setAlert(text)]
        case .place:
            guard !text.isEmpty else {
                self.close()
                return []
            }
            do throws(TypedPlace.ParseError) {
                let place = try TypedPlace.parse(text, at: state.replay, clock: self.clock)
                self.close()
                return [.replay(.seek(place))]
            } catch {
                self.change { $0.message = error.reason }
                return []
            }
        case .userName, .message: return self.submit(text, question.kind)
        }
    }

    /// Ends the search on the screen with this symbol.
    mutating func found(_ symbol: String) {
        let wasOpen = self.question?.before?.opened != nil
        self.close()
        self.choice.selected = symbol
        if wasOpen { self.choice.opened = symbol }
    }

    /// Handles the result of a submission; returns whether it succeeded.
    ///
    /// After a failure the prompt stays open with the problem, so that the user can correct the text. If the prompt is
    /// closed meanwhile, a notice shows the problem.
    mutating func settled(_ kind: ScreenQuestion.Kind, of text: String, problem: String?, now: Moment) -> Bool {
        let isOpen = self.question?.kind == kind && self.question?.given == text
        if let problem {
            if isOpen {
                self.question?.given = nil
                self.question?.isRefused = true
                self.change { $0.message = problem }
            } else {
                _ = self.say(problem, now)
            }
            return false
        }
        if isOpen { self.close() }
        return true
    }
}
