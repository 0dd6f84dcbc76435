/// A reaction to an alert, in addition to a program and a webhook.
package enum AlertAction: String, Sendable, Hashable, CaseIterable {
    /// The terminal's bell.
    case bell
    /// A highlight of the alert on the screen for a moment.
    case flash
    /// A desktop notification through the terminal, by the OSC 9 sequence of iTerm2 and others.
    case osc9
    /// A desktop notification through the terminal, by the OSC 777 sequence of urxvt, foot and others.
    case osc777
    /// A desktop notification by the program `notify-send`.
    case notifySend = "notify-send"
}
