/// What may happen when an alert fires, beside a program and a webhook.
package enum AlertAction: String, Sendable, Hashable, CaseIterable {
    /// The terminal's bell.
    case bell
    /// The alert on the screen in other colours for a moment.
    case flash
    /// A desktop notification through the terminal, as iTerm2 and others know it.
    case osc9
    /// The same, as urxvt, foot and others know it.
    case osc777
    /// A desktop notification by the program `notify-send`.
    case notifySend = "notify-send"
}
