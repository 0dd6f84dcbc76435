extension WAMPRequest {
    /// - Throws: ``WAMPViolation`` for anything but a message that a client may send.
    init(_ value: WAMPValue) throws(WAMPViolation) {
        guard let elements = value.list else { throw WAMPViolation("a message is a list") }
        var fields = WAMPFields(elements)
        switch try fields.code() {
        case .hello:
            self = .hello(realm: try fields.text("Realm"), try fields.dictionary("Details"))
            try fields.end()
        case .abort:
            self = .abort
        case .goodbye:
            _ = try fields.dictionary("Details")
            _ = try fields.text("Reason")
            self = .goodbye
        case .error:
            self = try Self.failed(&fields)
        case .publish:
            self = try Self.publish(&fields)
        case .subscribe:
            let id = try fields.id("Request")
            let match = try fields.dictionary("Options").text("match") ?? WAMPMatch.exact.rawValue
            self = .subscribe(id, topic: try fields.text("Topic"), match: WAMPMatch(rawValue: match))
            try fields.end()
        case .unsubscribe:
            self = .unsubscribe(try fields.id("Request"), subscription: try fields.id("Subscription"))
            try fields.optionsAtEnd()
        case .call:
            let id = try fields.id("Request")
            let options = try fields.dictionary("Options")
            let asked = CallOptions(
                receivesProgress: try options.bool("receive_progress"),
                timeout: try options.count("timeout").flatMap { $0 == 0 ? nil : $0 }
            )
            self = .call(id, asked, procedure: try fields.text("Procedure"), try fields.payload())
        case .cancel:
            let id = try fields.id("Request")
            let word = try fields.dictionary("Options").text("mode") ?? CancelMode.killnowait.rawValue
            guard let mode = CancelMode(rawValue: word) else { throw WAMPViolation("unknown mode of CANCEL") }
            self = .cancel(id, mode)
            try fields.end()
        case .register:
            let id = try fields.id("Request")
            let options = try fields.dictionary("Options")
            let isExact = try options.text("match") ?? WAMPMatch.exact.rawValue == WAMPMatch.exact.rawValue
            let isSingle = try options.text("invoke") ?? "single" == "single"
            self = .register(id, procedure: try fields.text("Procedure"), isUsual: isExact && isSingle)
            try fields.end()
        case .unregister:
            self = .unregister(try fields.id("Request"), registration: try fields.id("Registration"))
            try fields.optionsAtEnd()
        case .yield:
            let id = try fields.id("Request")
            let isProgress = try fields.dictionary("Options").bool("progress")
            self = .yield(id, isProgress: isProgress, try fields.payload())
        case .welcome, .challenge, .authenticate, .published, .subscribed, .unsubscribed, .event, .result, .registered,
            .unregistered, .invocation, .interrupt:
            throw WAMPViolation("a client does not send this message")
        }
    }

    private static func failed(_ fields: inout WAMPFields) throws(WAMPViolation) -> WAMPRequest {
        guard try fields.code() == .invocation else { throw WAMPViolation("a client's ERROR is about an INVOCATION") }
        let id = try fields.id("Request")
        _ = try fields.dictionary("Details")
        let uri = try fields.text("Error")
        guard WAMPURI.isValid(uri) else { throw WAMPViolation("Error is no URI") }
        return .failed(id, WAMPFailure(uri: uri, payload: try fields.payload()))
    }

    private static func publish(_ fields: inout WAMPFields) throws(WAMPViolation) -> WAMPRequest {
        let id = try fields.id("Request")
        let options = try fields.dictionary("Options")
        var asked = PublishOptions(
            isAcknowledged: try options.bool("acknowledge"),
            excludesPublisher: try options.bool("exclude_me", default: true),
            excluded: try options.ids("exclude") ?? [],
            eligible: try options.ids("eligible")
        )
        // All sessions have the same name and role, so a list of these names all or none of them.
        for key in ["authid", "authrole"] {
            let isExcluded = try options.texts("exclude_\(key)")?.contains(WAMPWelcome.anonymous) ?? false
            let isEligible = try options.texts("eligible_\(key)")?.contains(WAMPWelcome.anonymous) ?? true
            if isExcluded || !isEligible { asked.eligible = [] }
        }
        return .publish(id, asked, topic: try fields.text("Topic"), try fields.payload())
    }
}
