package import Market
import NIOConcurrencyHelpers

/// The list of the alerts that are set, shared by all threads: keys change it, the feed's loop evaluates it, the screen
/// shows it.
///
/// A trade never touches it: the loop's ``AlertReader`` has a copy of the rules, and is notified of changes.
package final class AlertBoard: Sendable {
    struct Entry: Sendable {
        /// Identifies the rule in this run.
        var number: Int
        var rule: AlertRule
        /// Whether the rule is in no setting: it was set while the program ran, or in an earlier run.
        var isByKey: Bool
        var state = "armed"
        /// When it fired last; monotonic ns.
        var fired: Int64?
    }

    private enum Outcome {
        case added
        case known
        case full
    }

    private struct State {
        var entries: [Entry] = []
        var next = 0
        var changed: (@Sendable () -> Void)?

        mutating func add(_ rule: AlertRule, isByKey: Bool) -> Outcome {
            guard !self.entries.contains(where: { $0.rule == rule }) else { return .known }
            guard self.entries.count < AlertRule.most else { return .full }
            self.entries.append(Entry(number: self.next, rule: rule, isByKey: isByKey))
            self.next += 1
            return .added
        }
    }

    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - rules: the rules of the settings.
    ///   - kept: the rules that an earlier run kept. Those that are also in the settings are added once.
    package init(rules: [AlertRule], kept: [AlertRule] = []) {
        self.state.withLockedValue { state in
            for (rule, isByKey) in rules.map({ ($0, false) }) + kept.map({ ($0, true) }) {
                _ = state.add(rule, isByKey: isByKey)
            }
        }
    }

    /// Sets an alert. May be called on any thread.
    ///
    /// - Throws: the error in one line, which names the remedy.
    package func add(_ text: String) throws(AlertRule.ParseError) {
        let rule = try AlertRule(text)
        let outcome = self.state.withLockedValue { state in (state.add(rule, isByKey: true), state.changed) }
        switch outcome.0 {
        case .added: outcome.1?()
        case .known: throw AlertRule.ParseError("this alert is set already")
        case .full: throw AlertRule.ParseError("there are \(AlertRule.most) alerts; remove one first")
        }
    }

    /// Removes the alert whose rule has this text; returns whether there was one. May be called on any thread.
    @discardableResult
    package func remove(_ text: String) -> Bool {
        let (isGone, changed) = self.state.withLockedValue { state in
            let before = state.entries.count
            state.entries.removeAll { $0.rule.description == text }
            return (state.entries.count < before, state.changed)
        }
        if isGone { changed?() }
        return isGone
    }

    /// Replaces the rules of the settings by others. Those that were set by key stay, and so does the state of a rule that
    /// is in both. May be called on any thread.
    package func replace(rulesOfSettings rules: [AlertRule]) {
        let changed = self.state.withLockedValue { state in
            state.entries.removeAll { !$0.isByKey && !rules.contains($0.rule) }
            for rule in rules { _ = state.add(rule, isByKey: false) }
            return state.changed
        }
        changed?()
    }

    /// Returns the error of a rule's text, in one line; `nil` if the text is a valid rule. May be called on any thread.
    package static func errorText(about text: String) -> String? {
        do throws(AlertRule.ParseError) {
            _ = try AlertRule(text)
            return nil
        } catch {
            return error.description
        }
    }

    /// The alerts in the order in which they were set, as the screen shows them. May be read on any thread.
    package var list: [ListedAlert] {
        self.state.withLockedValue { state in
            state.entries.map { ListedAlert(text: $0.rule.description, state: $0.state, fired: $0.fired) }
        }
    }

    // MARK: For the reader

    /// Sets the function to call after every change of the rules, on the thread that made it. It must return at once.
    func connect(_ changed: @escaping @Sendable () -> Void) { self.state.withLockedValue { $0.changed = changed } }

    var rules: [(number: Int, rule: AlertRule)] {
        self.state.withLockedValue { $0.entries.map { ($0.number, $0.rule) } }
    }

    /// The texts of the rules that are in no setting.
    var keptRules: [String] {
        self.state.withLockedValue { $0.entries.filter(\.isByKey).map { $0.rule.description } }
    }

    /// Takes the states of the rules, in words.
    func publish(_ states: [(number: Int, words: String)]) {
        self.state.withLockedValue { state in
            let words = Dictionary(states, uniquingKeysWith: { first, _ in first })
            for place in state.entries.indices {
                guard let words = words[state.entries[place].number] else { continue }
                state.entries[place].state = words
            }
        }
    }

    /// Notes that a rule has fired.
    ///
    /// - Parameter time: monotonic ns.
    func fired(_ text: String, at time: Int64) {
        self.state.withLockedValue { state in
            guard let place = state.entries.firstIndex(where: { $0.rule.description == text }) else { return }
            state.entries[place].fired = time
        }
    }
}
