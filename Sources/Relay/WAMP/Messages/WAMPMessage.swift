/// A message to a client (WAMP, 3.4).
enum WAMPMessage: Equatable {
    case welcome(UInt64, WAMPDictionary)
    case abort(WAMPErrorURI, String)
    case goodbye(WAMPErrorURI, String)
    /// The failure of a request of the client; `code` is that of the request.
    case error(WAMPCode, UInt64, WAMPFailure)
    case subscribed(UInt64, subscription: UInt64)
    case unsubscribed(UInt64)
    case published(UInt64, publication: UInt64)
    /// - `topic`: the topic, if the subscription does not name it.
    case event(subscription: UInt64, publication: UInt64, topic: String?, WAMPPayload)
    case registered(UInt64, registration: UInt64)
    case unregistered(UInt64)
    case invocation(UInt64, registration: UInt64, receivesProgress: Bool, WAMPPayload)
    case interrupt(UInt64, WAMPRequest.CancelMode)
    case result(UInt64, isProgress: Bool, WAMPPayload)

    /// Makes an event whose only argument is an object written as JSON.
    static func event(subscription: UInt64, publication: UInt64, topic: String?, _ object: WAMPValue) -> WAMPMessage {
        .event(subscription: subscription, publication: publication, topic: topic, WAMPPayload(arguments: [object]))
    }

    /// The message as a list.
    var value: WAMPValue {
        switch self {
        case .welcome(let session, let details):
            Self.list(.welcome, [.number(session), .dictionary(details)])
        case .abort(let reason, let text):
            Self.list(.abort, [.dictionary(["message": .text(text)]), .text(reason.rawValue)])
        case .goodbye(let reason, let text):
            Self.list(.goodbye, [.dictionary(["message": .text(text)]), .text(reason.rawValue)])
        case .error(let code, let request, let failure):
            Self.list(
                .error,
                [.integer(code.rawValue), .number(request), .dictionary([:]), .text(failure.uri)]
                    + failure.payload.elements
            )
        case .subscribed(let request, let subscription):
            Self.list(.subscribed, [.number(request), .number(subscription)])
        case .unsubscribed(let request):
            Self.list(.unsubscribed, [.number(request)])
        case .published(let request, let publication):
            Self.list(.published, [.number(request), .number(publication)])
        case .event(let subscription, let publication, let topic, let payload):
            Self.list(
                .event,
                [.number(subscription), .number(publication), Self.details("topic", topic.map { .text($0) })]
                    + payload.elements
            )
        case .registered(let request, let registration):
            Self.list(.registered, [.number(request), .number(registration)])
        case .unregistered(let request):
            Self.list(.unregistered, [.number(request)])
        case .invocation(let request, let registration, let receivesProgress, let payload):
            Self.list(
                .invocation,
                [
                    .number(request), .number(registration),
                    Self.details("receive_progress", receivesProgress ? .bool(true) : nil),
                ] + payload.elements
            )
        case .interrupt(let request, let mode):
            Self.list(.interrupt, [.number(request), .dictionary(["mode": .text(mode.rawValue)])])
        case .result(let request, let isProgress, let payload):
            Self.list(
                .result,
                [.number(request), Self.details("progress", isProgress ? .bool(true) : nil)] + payload.elements
            )
        }
    }

    private static func list(_ code: WAMPCode, _ elements: [WAMPValue]) -> WAMPValue {
        .list([.integer(code.rawValue)] + elements)
    }

    private static func details(_ key: String, _ value: WAMPValue?) -> WAMPValue {
        .dictionary(value.map { [key: $0] } ?? [:])
    }
}
