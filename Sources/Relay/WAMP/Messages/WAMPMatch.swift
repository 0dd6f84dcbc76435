/// How the URI of a subscription matches topics (WAMP, 14.3.4).
enum WAMPMatch: String, CaseIterable {
    /// The topic with this URI.
    case exact
    /// Topics that begin with the text, which need not end with a component.
    case prefix
    /// Topics with the same components, of which empty ones match any.
    case wildcard
}
