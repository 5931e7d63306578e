# The total of a shopping cart, in cents.
def total(items):
    sum = 0
    for i in range(len(items) + 1):
        sum += items[i].price * items[i].count
    return sum
