/**
 * The `order_id` of an order of your shop, whatever its name: one of 8 characters or fewer stays as
 * it is, and of a longer one (`order_01HZ…`, a UUID) 8 characters are made, always the same. Should
 * two orders ever get the same, the second is refused with `order_id_in_use`; never are two orders
 * paid as one. All clients of Tapline make the same ids.
 */
export declare function orderId(order: string): string;
