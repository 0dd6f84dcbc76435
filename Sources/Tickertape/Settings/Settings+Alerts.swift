package import Alerts
package import Market
import NIOCore
package import TLS

extension Settings {
    /// The alert rules, and the outputs of alerts.
    package struct Alerts: Sendable, Equatable {
        package var rules: [AlertRule] = []
        /// The output of alerts on a terminal.
        package var actions: [AlertAction] = [.bell, .flash]
        package var watch = AlertEvaluator.Settings()
        /// The program to run, and its arguments; empty for no program.
        package var exec: [String] = []
        package var execLimits = AlertPrograms.Limits()
        package var webhook: WebhookAddress?
        /// The file that holds the webhook's URL.
        package var webhookFile: String?
        /// The trust roots for the certificate of the webhook's server.
        package var webhookTrust = TLSClientConfiguration.Trust.system
    }

    /// Returns the webhook in force: the configured URL, or the one in the configured file.
    ///
    /// - Parameter warn: takes a warning of one line.
    func webhookAddress(warn: (String) -> Void = { _ in }) throws(OperatorError) -> WebhookAddress? {
        guard let path = self.alerts.webhookFile else {
            if self.alerts.webhook != nil, case .file(let config) = self.origin(of: .alertWebhook),
                let hint = (try? SmallFile(path: config, limit: SettingsFile.limit))?.hintForReaders
            {
                warn("\(config) holds the webhook's URL and others can read it; run \(hint)")
            }
            return self.alerts.webhook
        }
        let name = "alerts.webhook-file (\(self.origin(of: .alertWebhookFile)))"
        guard self.alerts.webhook == nil else {
            throw OperatorError(
                "alerts.webhook (\(self.origin(of: .alertWebhook))) and \(name) are both given; keep one",
                status: .configuration
            )
        }
        let contents: SmallFile
        do throws(SmallFile.Failure) {
            guard let read = try SmallFile(path: path, limit: 4_096) else {
                throw SmallFile.Failure(reason: "does not exist")
            }
            contents = read
        } catch {
            // The path may be the URL itself, set under the wrong key.
            throw OperatorError("\(name): the file named there \(error.reason)", status: .configuration)
        }
        guard let address = WebhookAddress(String(decoding: contents.bytes, as: UTF8.self).trimmingBlanks()) else {
            throw OperatorError(
                "\(name): the file must hold the URL, https://HOST/PATH, and nothing else, in one line",
                status: .configuration
            )
        }
        if let hint = contents.hintForReaders {
            warn("the webhook's URL is in a file that others can read; run \(hint)")
        }
        return address
    }
}

extension Syntax<AlertRule> {
    static var alertRule: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                do throws(AlertRule.ParseError) {
                    return try AlertRule(text)
                } catch {
                    throw ParseError("is not an alert: \(error.description)")
                }
            },
            write: { $0.description }
        )
    }
}

extension Syntax<ExactDecimal> {
    /// A percentage of at most 50%.
    static var percent: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard let percent = AlertNumber.percent(text),
                    percent <= ExactDecimal(normalisedSignificand: 5, exponent: 1)
                else { throw ParseError("is not a percentage from 0% to 50%; write it like 0.1%") }
                return percent
            },
            write: { "\($0)%" }
        )
    }
}

extension Syntax<QuietHours> {
    static var quietHours: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard let hours = QuietHours(text) else {
                    throw ParseError("is not a stretch of the day; write it like 22:00-07:00")
                }
                return hours
            },
            write: { "\($0)" }
        )
    }
}

extension Syntax<WebhookAddress> {
    static var webhook: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard let address = WebhookAddress(text) else {
                    throw ParseError(
                        "is not a URL that can be called; write it like https://HOST/PATH, without user and password",
                        echoes: false
                    )
                }
                return address
            },
            write: { "\($0)" }
        )
    }
}

extension Syntax<String> {
    /// A program's name, or one of its arguments.
    static var argument: Syntax {
        Syntax(
            read: { text throws(ParseError) in
                guard !text.isEmpty, !text.utf8.contains(0), text.utf8.count <= 4_096 else {
                    throw ParseError("is not an argument", echoes: false)
                }
                return text
            },
            write: { $0 }
        )
    }
}

extension Setting {
    static let alertRules = Setting(
        "alerts.rules",
        list: \.alerts.rules,
        of: .alertRule,
        count: 0...AlertRule.most,
        flags: ["alert"],
        isReloadable: true,
        help: "An alert such as \"BINANCE:BTCUSDT above 60000\"; several may be given."
    )
    static let alertActions = Setting(
        "alerts.actions",
        list: \.alerts.actions,
        of: .word,
        count: 0...AlertAction.allCases.count,
        isReloadable: true,
        help: "How alerts are shown: bell, flash, osc9 and osc777 (desktop, by the terminal), notify-send."
    )
    static let alertHysteresis = Setting(
        "alerts.hysteresis",
        \.alerts.watch.hysteresis,
        .percent,
        isReloadable: true,
        help: "How far a price must come back before its alert is armed again."
    )
    static let alertCooldown = Setting(
        "alerts.cooldown",
        \.alerts.watch.cooldown,
        Syntax.duration.within(.zero...(.hours(168))).nanoseconds,
        isReloadable: true,
        help: "The least time between two alerts of one rule and symbol."
    )
    static let alertQuietHours = Setting(
        "alerts.quiet-hours",
        \.alerts.watch.quiet,
        Syntax.quietHours.optional("none"),
        isReloadable: true,
        help: "The hours of the day, by the local clock, in which no alert fires: 22:00-07:00."
    )
    static let alertExec = Setting(
        "alerts.exec",
        list: \.alerts.exec,
        of: .argument,
        count: 0...64,
        keepsRepeats: true,
        isReloadable: true,
        help: "A program and its arguments to run for each alert, without a shell, the alert as JSON on its input."
    )
    static let alertExecTimeout = Setting(
        "alerts.exec-timeout",
        \.alerts.execLimits.time,
        Syntax.duration.within(.milliseconds(100)...(.minutes(10))).nanoseconds,
        isReloadable: true,
        help: "How long that program may run."
    )
    static let alertExecAtOnce = Setting(
        "alerts.exec-at-once",
        \.alerts.execLimits.atOnce,
        Syntax.count.within(1...64),
        isReloadable: true,
        help: "How many of it may run at once; 64 more wait, and the rest is left out and counted."
    )
    static let alertWebhook = Setting(
        "alerts.webhook",
        \.alerts.webhook,
        Syntax.webhook.optional("none"),
        isSecret: true,
        isReloadable: true,
        help: "The URL to which each alert is sent as JSON by POST."
    )
    static let alertWebhookFile = Setting(
        "alerts.webhook-file",
        \.alerts.webhookFile,
        Syntax.path.optional("none"),
        isReloadable: true,
        help: "A file that holds that URL and nothing else."
    )
    static let alertWebhookAuthorityFile = Setting(
        "alerts.webhook-ca-file",
        \.alerts.webhookTrust,
        .trust,
        isReloadable: true,
        help: "A PEM file of certificate authorities to trust for the webhook instead of the system's."
    )
}
